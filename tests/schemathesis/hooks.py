"""What schemathesis is told of Garth that openapi.yaml cannot say. Each exception has its reason.

A request that is right by the document may be refused, but only with codes that are listed here.
Whatever else schemathesis finds is a failure.
"""

import itertools
import json
import os

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData

KEPT = {name: list(map(str, ids)) for name, ids in json.loads(os.environ["GARTH_KEPT"]).items()}
ANSWERED = os.environ["GARTH_ANSWERED"]

# Codes with which a request may be refused although the document allows it, and why no schema can
# say so beforehand.
BEYOND_A_SCHEMA = {
    # There must be no such thing yet.
    "label_taken": "labels are unique",
    "username_taken": "names of users are unique",
    "address_taken": "addresses are unique in a subnet",
    "cidr_overlap": "ranges of a VPC do not overlap",
    # There must be such a thing.
    "account_invalid": "a body names an account by its id",
    "canned_reply_invalid": "a body names a canned reply by its id",
    "config_invalid": "a body names a config by its id",
    "config_missing": "the instance has no config, or several, and the body names none",
    "device_invalid": "a body names a disk by its id",
    "entity_invalid": "a body names what a ticket is about by its id",
    "grant_invalid": "a body names what is granted by its id",
    "nat_invalid": "a body names a public address of the instance",
    "order_invalid": "a body names the interfaces that the config has",
    "subnet_invalid": "a body names a subnet by its id",
    # The provider chooses these in its settings, and lists tell them.
    "cidr_forbidden": "ranges that the provider keeps for itself",
    "image_invalid": "images that the provider offers",
    "plan_invalid": "types that the provider offers",
    "region_invalid": "regions that the provider has",
    # It depends on the state of the thing, or of something near it.
    "address_invalid": "an address must be one of those that the subnet gives out",
    "addresses_exhausted": "the subnet is full",
    "attachment_limit": "the ticket has as many files as it may",
    "config_active": "the instance runs with the config",
    "disk_count": "the instance has as many disks as it may",
    "disk_space": "the disks of the instance must fit its plan",
    "grants_unrestricted": "the user is unrestricted",
    "instance_busy": "work on the instance or its disks is in progress",
    "instance_state": "the instance does not run, or runs with another config",
    "interface_active": "the instance runs with the interface",
    "interface_count": "how many interfaces of a purpose the config has already",
    "interface_field": "an interface that is there has one purpose, and fields of others are not for it",
    "precondition_failed": "If-Match names a state that is not the present one",
    "primary_invalid": "an interface that is there is a VLAN",
    "quota_exceeded": "the account has as many as it may",
    "range_invalid": "ranges must lie in the subnet, clear of each other and of the address",
    "subnet_in_use": "an interface is on the subnet",
    "ticket_claimed": "a colleague has claimed the ticket",
    "ticket_closed": "the ticket is closed",
    "ticket_not_claimed": "nobody has claimed the ticket",
    "ticket_not_closable": "only staff can close the ticket",
    "user_self": "the user is the caller itself",
    # It depends on who asks, and on the time.
    "rate_limited": "an account meets 20 taken usernames an hour",
    "expiry_invalid": "a time must lie ahead",
    "token_scope_exceeded": "a token gives no more than itself",
    # One value must fit another one, or the whole must.
    "filter_field": "each list has fields of its own, told in its description",
    "filter_too_large": "how many comparisons a filter has in all, and how deep it goes",
    "filter_type": "a filter's value must have the type of its field",
    "search_invalid": "what counts as a letter or a digit, in all scripts",
    "preferences_too_large": "how long the whole is, written out",
    "spelling_conflict": "two names of one field must have the same value",
    # What a form carries beside its values.
    "file_content": "a file's content must be what its name says",
    "file_empty": "a schema counts characters, and a file has bytes",
    "file_extension": "OpenAPI has no words for the name of a file",
    # A pattern for it would fill a page.
    "redirect_uri_invalid": "which digits in brackets are an IPv6 address, and which in a port are too many",
    # OAuth: a secret, a code or a client that was made up is nobody's.
    "client_invalid": "a form names a client by its id and secret",
    "code_invalid": "a form names a code that was given out",
    "refresh_token_invalid": "a form names a token that was given out",
}

# Pages for people tell what is wrong in a sentence, without a code. What was made up names no
# client, and carries no mark of the page it must come from.
PAGES = {"authorize", "authorizeDecision"}

numbers = itertools.count(1)


def name(case):
    return case.operation.definition.raw["operationId"]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    tell_events(raw_schema)
    filter_once(raw_schema)


def filter_once(document):
    """One reader reads the filters of all lists, so one list of each part gets all kinds of them.

    The coverage phase makes hundreds of filters from the schema of one; the other lists get some.
    """
    simple = {"type": "object", "propertyNames": {"pattern": "^[a-z]*$"}}
    simple = {"name": "X-Filter", "in": "header", "content": {"application/json": {"schema": simple}}}
    for methods in document["paths"].values():
        parameters = methods.get("get", {}).get("parameters", [])
        for at, parameter in enumerate(parameters):
            whole = methods["get"]["operationId"] in ("getVpcs", "getDeskTickets", "getRegions")
            if parameter.get("$ref", "").endswith("/X-Filter") and not whole:
                parameters[at] = simple


def tell_events(document):
    """OpenAPI 3.1 has words for a stream as a whole, which is a string, and none for one event of it.

    schemathesis looks at each event, so it is told what one is.
    """
    content = document["paths"]["/account/events/stream"]["get"]["responses"]["200"]["content"]
    event = {"$ref": "#/components/schemas/Event"}
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": event}
    properties = {"id": {"type": "string", "pattern": "^[1-9][0-9]*$"}, "data": data}
    content["text/event-stream"]["schema"] = {"type": "object", "required": ["id", "data"], "properties": properties}


@schemathesis.hook
def before_call(context, case, kwargs):
    keep(case)
    renew(case)


def keep(case):
    """What everything else stands on is not deleted: least of all the token that is asked with."""
    if case.operation.method.upper() == "DELETE" or name(case) == "closeTicket":
        last = case.operation.path.rsplit("{", 1)[-1].split("}")[0]
        if str(case.path_parameters.get(last)).strip() in KEPT.get(last, []):
            case.path_parameters[last] = {"username": "nobody", "clientId": "0" * 20}.get(last, 10**12)


def renew(case):
    """The document's examples can be made once: then their labels and ranges are taken.

    Requests that differ from an example in one thing are refused for that thing only if the rest
    can be done, so what must be new is made new.
    """
    body = case.operation.definition.raw.get("requestBody", {}).get("content", {}).get("application/json", {})
    example = body.get("example", {})
    if case.operation.method.upper() != "POST" or not isinstance(case.body, dict):
        return
    number = next(numbers)
    for key in ("label", "username"):
        if key in example and case.body.get(key) == example[key]:
            case.body[key] = f"{example[key]}-{number}"
    if "ipv4" in example and case.body.get("ipv4") == example["ipv4"]:
        case.body["ipv4"] = f"10.{1 + number // 256 % 250}.{number % 256}.0/24"


@schemathesis.hook
def after_call(context, case, response):
    """Writes down what was answered, so that run.py can tell what was never reached."""
    if response.request.method == case.operation.method.upper():
        with open(ANSWERED, "a") as answered:
            answered.write(f"{name(case)} {response.status_code}\n")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failure is one."""
    if isinstance(failure, AcceptedNegativeData):
        return not sent_back(case, response)
    return not (isinstance(failure, RejectedPositiveData) and explained(case, response))


def sent_back(case, response):
    """Whether a browser was sent back with an error, which is how RFC 6749 has it refused."""
    place = response.headers.get("location", [""])[0]
    return name(case) == "authorize" and response.status_code == 303 and "error=" in place


def explained(case, response):
    """Whether a refusal of what the document allows is for reasons that it cannot tell."""
    kind = response.headers.get("content-type", [""])[0]
    if name(case) in PAGES and response.status_code == 400 and kind.startswith("text/html"):
        return True
    if kind != "application/json":
        return False
    errors = response.json()["errors"]
    codes = {error["code"] for error in errors}
    if codes == {"multipart_invalid"}:
        return has_broken_names(case)
    if codes == {"form_invalid"}:
        return has_several(case)
    return all(error["code"] in BEYOND_A_SCHEMA or has_stray_bits(error) for error in errors)


def has_stray_bits(error):
    """Whether a range of an interface has bits behind its prefix.

    Of a subnet's range patterns say that there are none, one for each of 22 prefix lengths; for
    ranges of all lengths they would fill a page.
    """
    return error["code"] == "cidr_host_bits" and "ip_ranges[" in error["field"]


def has_broken_names(case):
    """Whether a form has a field whose name cannot stand in a header, where forms have their names.

    schemathesis makes up fields with such names and writes them as they are.
    """
    names = case.body if isinstance(case.body, dict) else {}
    return any(ord(letter) < 32 or ord(letter) == 127 for field in names for letter in field)


def has_several(case):
    """Whether a form has a list or an object for a field that the document does not know.

    schemathesis writes the field once for each item, and a form has no field twice.
    """
    return isinstance(case.body, dict) and any(isinstance(value, (list, dict)) for value in case.body.values())
