"""The words: trees are checked, selectors are read as the contract says, manifests refuse what they do not know."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from anydevice_schemas import (
    DeviceSelector,
    Manifest,
    Node,
    Rect,
    contract_accepts,
    event_template_variables,
    tree_faults,
)


def test_a_sound_tree_has_no_faults() -> None:
    nodes = [Node("window"), Node("button", parent=0, key="a", rect=Rect(0, 0, 1, 1)), Node("text", parent=1, key="b")]
    assert tree_faults(nodes) == []


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ([], "no nodes"),
        ([Node("window", parent=0)], "parent"),
        ([Node("window"), Node("button", parent=2)], "parent"),
        ([Node("blob")], "role"),
        ([Node("window"), Node("button", parent=0, key="a"), Node("button", parent=0, key="a")], "twice"),
        ([Node("textbox", secure=True, value="hunter2")], "secure"),
        ([Node("button", rect=Rect(0, 0, -1, 1))], "rectangle"),
        ([Node("button", rect=Rect(float("nan"), 0, 1, 1))], "rectangle"),
        ([Node("button", rect=Rect(0, 0, float("inf"), 1))], "rectangle"),
    ],
)
def test_a_tree_that_is_not_sound_says_why(nodes: list[Node], says: str) -> None:
    faults = tree_faults(nodes)
    assert faults and says in faults[0] and "hunter2" not in str(faults)


def test_allowlists_are_split_at_spaces_and_commas() -> None:
    selector = DeviceSelector.model_validate({"androidDeviceAllowlist": "A, b  c"})
    assert selector.allowlists() == {"android": {"a", "b", "c"}}


@pytest.mark.parametrize(
    "bad", [{"deviceTarget": "phone"}, {"tenant": "a b"}, {"leaseId": "xyz"}, {"device": ""}, {"colour": "red"}]
)
def test_a_selector_that_means_nothing_is_refused(bad: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        DeviceSelector.model_validate(bad)


@pytest.mark.parametrize(
    ("text", "version", "accepted"),
    [
        (">=1.0,<2", "1.0", True),
        (">=1.1,<2", "1.0", False),
        (">=1.0,<2", "2.0", False),
        ("==1.3", "1.3", True),
        ("<1", "1.0", False),
    ],
)
def test_contract_ranges(text: str, version: str, accepted: bool) -> None:
    assert contract_accepts(text, version) is accepted


def test_event_template_variables_name_the_narrowest_platform_first() -> None:
    names = event_template_variables(("ios", "apple"))
    assert names.index("AGENT_DEVICE_IOS_APP_EVENT_URL_TEMPLATE") < names.index("AGENT_DEVICE_APP_EVENT_URL_TEMPLATE")


def test_a_manifest_may_list_operations_in_short() -> None:
    head = 'name="x"\nsummary="s"\ncontract=">=1.0"\ndevice_classes=["tv"]\n'
    text = head + 'operations=["screen.tree"]\n[[platforms]]\nname="x"'
    assert Manifest.from_toml(text).operations["screen.tree"].kinds == []
    with pytest.raises(ValidationError):
        Manifest.from_toml(text + '\nunknown = "x"')
