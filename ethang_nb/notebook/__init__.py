"""IPython: the extension, its magics and their completion."""
