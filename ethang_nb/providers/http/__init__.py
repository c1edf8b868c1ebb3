"""HTTP: bytes over the network, with limits, retries and waits."""
