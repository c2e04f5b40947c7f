"""Walks by people in a home: their runs, and the room of the browser that takes keys."""
