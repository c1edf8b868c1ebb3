"""Live views: what every host of them shares, whether notebook, panel or another. Nothing here knows IPython."""
