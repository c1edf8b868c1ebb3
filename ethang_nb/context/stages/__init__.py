"""One file a stage; `registry` lists them."""
