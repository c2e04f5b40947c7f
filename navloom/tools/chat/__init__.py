"""What the chat's robot may call: places by name, what is around, ways by direction."""
