"""Cells, the directory of accounts, and moves between cells, as docs/scaling.md plans them.

A size is a number of units. One unit is the idle tenant of bench/capacity. Nothing here stores data: a cell only knows
its accounts and their states.
"""

import enum
import itertools
from collections import namedtuple

# The number of IDs in one extent.
EXTENT = 1 << 24
MAX_JSON_INTEGER = (1 << 53) - 1

# Where an account is. The version rises with every move.
Placement = namedtuple("Placement", "cell version")


class InvariantViolation(Exception):
    """A property that must hold at all times does not hold."""


class Crash(Exception):
    """The process that moves an account dies after a step."""


class State(enum.Enum):
    ACTIVE = "serves all requests"
    FROZEN = "serves reads; writes get 503"
    ARRIVING = "a copy that serves nothing"
    MOVED = "an old copy that serves nothing; requests get 421"


class Directory:
    """The authority for the cell of each account, and for ranges of IDs."""

    def __init__(self):
        self.placements = {}
        self.extents = itertools.count()
        self.granted = {}

    def place(self, account, cell):
        if account in self.placements:
            raise InvariantViolation(f"account {account} is placed twice")
        self.placements[account] = Placement(cell, 1)

    def switch(self, account, expected, cell):
        """Points an account to another cell, unless its placement has changed since it was read."""
        if self.placements[account] != expected:
            return False
        self.placements[account] = Placement(cell, expected.version + 1)
        return True

    def grant_extent(self, cell):
        """Grants the next range of event IDs. Ranges are granted in rising order, each to one cell."""
        number = next(self.extents)
        self.granted[number] = cell
        return range(number * EXTENT + 1, (number + 1) * EXTENT + 1)


class Cell:
    """An installation with its own database and nodes."""

    def __init__(self, number, capacity, directory):
        self.number, self.capacity = number, capacity
        self.sizes, self.states = {}, {}
        self.used = 0
        self.take_extent(directory)

    @property
    def fill(self):
        return self.used / self.capacity

    def add(self, account, size, state):
        self.sizes[account], self.states[account] = size, state
        self.used += size

    def remove(self, account):
        self.used -= self.sizes.pop(account)
        del self.states[account]

    def grow(self, account, by):
        """Adds as much as fits; returns the rest."""
        admitted = min(by, self.capacity - self.used)
        self.sizes[account] += admitted
        self.used += admitted
        return by - admitted

    def take_extent(self, directory):
        self.extent = iter(directory.grant_extent(self.number))

    def next_event_id(self, directory):
        found = next(self.extent, None)
        if found is None:
            self.take_extent(directory)
            found = next(self.extent)
        return found


class System:
    """All cells, the directory, and gateways with a copy of the directory that can be out of date.

    `bugs` names mistakes that the self-test plants, to see the invariants fail.
    """

    def __init__(self, bugs=()):
        self.directory, self.cells, self.bugs = Directory(), {}, set(bugs)
        self.cached, self.last_events = {}, {}
        self.moves = self.misdirected = 0

    def add_cell(self, capacity):
        number = len(self.cells) + 1
        self.cells[number] = Cell(number, capacity, self.directory)
        return self.cells[number]

    def create(self, account, size, cell):
        self.directory.place(account, cell.number)
        cell.add(account, size, State.ACTIVE)
        self.record_event(account)

    def cell_of(self, account):
        return self.cells[self.directory.placements[account].cell]

    def record_event(self, account):
        """An event of an account. Clients read the events after the last ID that they have seen."""
        found = self.cell_of(account).next_event_id(self.directory)
        if found <= self.last_events.get(account, 0):
            raise InvariantViolation(f"account {account} has event {found} after {self.last_events[account]}")
        if found > MAX_JSON_INTEGER:
            raise InvariantViolation(f"event {found} is not exact in a JSON number of JavaScript")
        self.last_events[account] = found

    def route(self, account):
        """The cell that serves a request, as a gateway finds it: with its copy, and after a 421 with the directory."""
        number = self.cached.get(account) or self.directory.placements[account].cell
        cell = self.cells[number]
        if cell.states.get(account) not in (State.ACTIVE, State.FROZEN):
            self.misdirected += 1
            cell = self.cell_of(account)
            if cell.states.get(account) not in (State.ACTIVE, State.FROZEN):
                raise InvariantViolation(f"no cell serves account {account}")
        self.cached[account] = cell.number
        return cell

    def move(self, account, target, crash_after=None):
        """Moves an account. If the process dies after a step, `recover` completes or reverts the move."""
        for number, step in enumerate(self._steps(account, target)):
            step()
            if number == crash_after:
                raise Crash(account)
        self.moves += 1

    def _steps(self, account, target):
        source, placement = self.cell_of(account), self.directory.placements[account]
        size = source.sizes[account]
        if source is target or (target.used + size > target.capacity and "overfill" not in self.bugs):
            raise ValueError(f"cell {target.number} cannot take account {account}")

        def set_state(cell, state):
            cell.states[account] = state

        def switch():
            if "no switch" not in self.bugs:
                self.directory.switch(account, placement, target.number)

        # Until the switch, the source serves the account. All steps can be repeated.
        yield lambda: set_state(source, State.FROZEN)
        yield lambda: target.add(account, size, State.ACTIVE if "no fence" in self.bugs else State.ARRIVING)
        if "old extent" not in self.bugs:
            yield lambda: target.take_extent(self.directory)
        yield switch
        yield lambda: set_state(source, State.MOVED)
        yield lambda: set_state(target, State.ACTIVE)
        yield lambda: source.remove(account)

    def recover(self, account):
        """After a crash, the directory decides: the cell that it names serves the account. Other copies are deleted."""
        owner = self.cell_of(account)
        owner.states[account] = State.ACTIVE
        for cell in self.cells.values():
            if cell is not owner and account in cell.states:
                cell.remove(account)

    def check_one(self, account):
        """No two cells serve an account, even during a move."""
        serving = [
            cell.number for cell in self.cells.values() if cell.states.get(account) in (State.ACTIVE, State.FROZEN)
        ]
        if len(serving) > 1:
            raise InvariantViolation(f"cells {serving} serve account {account}")

    def check(self):
        """Checks all invariants. No move may be in progress."""
        for cell in self.cells.values():
            if sum(cell.sizes.values()) != cell.used:
                raise InvariantViolation(f"cell {cell.number} counts its accounts wrongly")
            if cell.used > cell.capacity:
                raise InvariantViolation(f"cell {cell.number} has {cell.used} units, and space for {cell.capacity}")
        for account, placement in self.directory.placements.items():
            if self.cells[placement.cell].states.get(account) is not State.ACTIVE:
                raise InvariantViolation(f"the directory names cell {placement.cell} for account {account}")
        # Each account is on the cell that the directory names, so one more copy would be on a second cell.
        if sum(len(cell.states) for cell in self.cells.values()) != len(self.directory.placements):
            raise InvariantViolation("a cell has an account that the directory does not place there")
