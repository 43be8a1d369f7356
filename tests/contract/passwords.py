"""Contract of Passwords."""

from __future__ import annotations

from directory_server.domain.ports.accounts import Passwords

from . import awaited


class PasswordsContract:
    """Subclasses define the adapter under test."""

    async def passwords(self) -> Passwords:
        raise NotImplementedError

    @awaited
    async def test_verifies_what_it_hashed_and_nothing_else(self) -> None:
        passwords = await self.passwords()
        hashed = await passwords.hash("correct horse", client="192.0.2.0/24")
        assert "correct" not in hashed
        assert await passwords.verify(hashed, "correct horse", client="198.51.100.0/24")
        assert await passwords.verify(hashed, "correct horse")
        for wrong in ("", "Correct horse", "correct horse ", hashed):
            assert not await passwords.verify(hashed, wrong)

    @awaited
    async def test_hashes_are_salted(self) -> None:
        passwords = await self.passwords()
        hashes = [await passwords.hash("correct horse") for _ in range(3)]
        assert len(set(hashes)) == 3
        assert all([await passwords.verify(each, "correct horse") for each in hashes])

    @awaited
    async def test_no_password_matches_a_missing_hash(self) -> None:
        passwords = await self.passwords()
        for wrong in ("", "correct horse", "None"):
            assert not await passwords.verify(None, wrong)
            assert not await passwords.verify("not a hash", wrong)
