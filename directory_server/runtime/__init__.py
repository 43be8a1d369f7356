"""What a process runs on: clocks, threads, turns of the reactor, timers, and its records."""
