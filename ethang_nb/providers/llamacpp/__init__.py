"""llama.cpp: a model file served in this process."""
