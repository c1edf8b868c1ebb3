"""The pure room: messages, segments, window, budget, policies and the planner. No clock, no disk, no network."""
