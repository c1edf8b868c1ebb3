"""From a snapshot to text and HTML. Views draw; they never compute."""
