"""Fake remotes for tests of checks: of every outcome, slow ones and hostile ones."""
