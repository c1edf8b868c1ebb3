"""Models and their stand-ins behind one Protocol."""
