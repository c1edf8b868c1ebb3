"""Widgets: the live views as anywidgets. The one room of the views that touches IPython and its family."""
