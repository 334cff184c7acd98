"""Exceptions that openapi.yaml cannot express, with their reasons.

Garth may refuse a request that the document allows, but only with the codes listed here. Any other finding
is a failure.
"""

import itertools
import json
import os

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData

PROTECTED_IDS = {name: list(map(str, ids)) for name, ids in json.loads(os.environ["GARTH_PROTECTED_IDS"]).items()}
RESPONSES_FILE = os.environ["GARTH_RESPONSES_FILE"]

# Codes of errors for requests that the document allows, and why no schema can express the rule.
NOT_IN_SCHEMA = {
    # The value must be unused.
    "label_taken": "labels are unique",
    "username_taken": "usernames are unique",
    "address_taken": "addresses are unique in a subnet",
    "cidr_overlap": "ranges of a VPC do not overlap",
    # The object must exist.
    "account_invalid": "a body has the ID of an account",
    "canned_reply_invalid": "a body has the ID of a canned reply",
    "config_invalid": "a body has the ID of a config",
    "config_missing": "the instance has no config, or several, and the body has none",
    "device_invalid": "a body has the ID of a disk, each at most once",
    "entity_invalid": "a body has the ID of the entity of a ticket",
    "grant_invalid": "a body has the ID of the granted object",
    "instance_invalid": "a body has the ID of an instance",
    "merge_invalid": "a body has the ID of another ticket of the same account",
    "nat_invalid": "a body has a public address of the instance",
    "order_invalid": "a body has the IDs of the interfaces of a config",
    "subnet_invalid": "a body has the ID of a subnet",
    "user_invalid": "a body has the names of users",
    # Garth does not have the product, or the value of a field.
    "not_offered": "operations and values that Garth does not have are refused",
    # Settings of the provider, which clients can list.
    "cidr_forbidden": "ranges reserved by the provider",
    "image_invalid": "images that the provider offers",
    "plan_invalid": "types that the provider offers",
    "region_invalid": "regions that the provider has",
    # The result depends on the state of the object, or of a related object.
    "address_invalid": "the address must be in the usable range of the subnet",
    "address_in_use": "an interface uses the address for NAT",
    "address_last": "the instance has one public address",
    "addresses_exhausted": "the subnet is full",
    "no_free_range": "the pool of the provider, or the range of the VPC, is used up",
    "rdns_invalid": "a private address has no name",
    "attachment_limit": "the ticket has the maximum number of files",
    "config_active": "the instance runs with the config",
    "config_count": "the instance has as many configs as it may",
    "disk_ambiguous": "the instance does not have exactly one disk, not counting swap disks",
    "disk_content": "the file system must match the content of the disk",
    "disk_count": "the instance has as many disks as it may",
    "disk_space": "the disks of the instance must fit its plan",
    "image_size": "a disk must not be smaller than its image",
    "plan_memory": "the memory limit of a config must fit the plan",
    "account_in_use": "the account has instances or VPCs",
    "account_state": "the account already has the status, or is closed",
    "grants_unrestricted": "the user is unrestricted",
    "last_admin": "the user is the last admin",
    "instance_busy": "work on the instance or its disks is in progress",
    "instance_state": "the instance does not run, or runs with another config",
    "interface_active": "the instance runs with the interface",
    "interface_count": "the config has the maximum number of interfaces of a purpose",
    "interface_field": "the fields of an existing interface depend on its purpose",
    "precondition_failed": "If-Match does not match the current state",
    "primary_invalid": "the existing interface is a VLAN",
    "quota_exceeded": "the account has reached its quota",
    "range_invalid": "ranges must be in the subnet and must not overlap each other or the address",
    "subnet_in_use": "an interface is on the subnet",
    "ticket_claimed": "a colleague has claimed the ticket",
    "ticket_closed": "the ticket is closed",
    "ticket_not_claimed": "the ticket is not claimed",
    "ticket_not_closable": "only staff can close the ticket",
    "job_recurring": "the job is recurring",
    "id_invalid": "some words are reserved",
    "id_taken": "a region or plan has the ID",
    "retired_state": "the region or plan is already retired, or is not retired",
    "job_running": "the job is running",
    "host_in_use": "the host has instances",
    "encryption_off": "the region does not encrypt",
    "no_capacity": "no host of the region has capacity",
    "user_self": "the user is the caller itself",
    # The result depends on the caller, or on the time.
    "rate_limited": "an account can try 20 taken usernames per hour",
    "expiry_invalid": "the time must be in the future",
    "time_invalid": "the end must be after the start",
    "color_contrast": "the contrast depends on the color",
    "link_invalid": "the pattern does not describe all rules of URLs",
    "brand_image_invalid": "the content of a file is not described by a schema",
    "token_scope_exceeded": "a token cannot create a token with more scopes",
    # The rule concerns several values.
    "errors_omitted": "a response lists at most 100 errors, here of the other codes",
    "filter_field": "each list has its own fields, listed in its description",
    "filter_too_large": "the total number of comparisons, and the depth",
    "filter_type": "the value must have the type of the field",
    "search_invalid": "letters and digits of all scripts",
    "preferences_too_large": "the length of the serialized preferences",
    "spelling_conflict": "two names of one field must have the same value",
    # The content and name of an uploaded file.
    "file_content": "the content of a file must match its extension",
    "file_empty": "a schema counts characters, not bytes",
    "file_extension": "OpenAPI cannot describe the name of a file",
    "ssh_key_invalid": "the base64 part of a key contains its type",
    # A pattern would be too long.
    "redirect_uri_invalid": "valid IPv6 addresses and ports",
    # OAuth: a generated secret, code or client does not exist.
    "client_invalid": "a form has the ID and secret of a client",
    "code_invalid": "a form has an issued code",
    "refresh_token_invalid": "a form has an issued refresh token",
}

# HTML pages have errors without a code. A generated request has no valid client and no form token.
PAGES = {"authorize", "authorizeDecision"}

numbers = itertools.count(1)


def operation_id(case):
    return case.operation.definition.raw["operationId"]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    describe_events(raw_schema)
    reduce_filters(raw_schema)


def reduce_filters(document):
    """Gives one list of each part all kinds of filters, because all lists share one parser.

    The coverage phase generates hundreds of filters from the full schema. The other lists get a simple schema.
    """
    simple = {"type": "object", "propertyNames": {"pattern": "^[a-z]*$"}}
    simple = {"name": "X-Filter", "in": "header", "content": {"application/json": {"schema": simple}}}
    for methods in document["paths"].values():
        parameters = methods.get("get", {}).get("parameters", [])
        for at, parameter in enumerate(parameters):
            is_full = methods["get"]["operationId"] in ("getVpcs", "getDeskTickets", "getRegions")
            if parameter.get("$ref", "").endswith("/X-Filter") and not is_full:
                parameters[at] = simple


def describe_events(document):
    """Describes one event of the stream, because schemathesis validates each event.

    OpenAPI 3.1 can only describe the whole stream, as a string.
    """
    content = document["paths"]["/account/events/stream"]["get"]["responses"]["200"]["content"]
    event = {"$ref": "#/components/schemas/Event"}
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": event}
    properties = {"id": {"type": "string", "pattern": "^[1-9][0-9]*$"}, "data": data}
    content["text/event-stream"]["schema"] = {"type": "object", "required": ["id", "data"], "properties": properties}


@schemathesis.hook
def before_call(context, case, kwargs):
    protect(case)
    use_initial(case)
    make_unique(case)


def protect(case):
    """Prevents the deletion of the initial objects and of the tokens in use, and keeps the users of the run."""
    ends_access = {"closeTicket", "suspendProviderAccount", "closeProviderAccount", "updateStaffUser"}
    if case.operation.method.upper() == "DELETE" or operation_id(case) in ends_access:
        last = case.operation.path.rsplit("{", 1)[-1].split("}")[0]
        if str(case.path_parameters.get(last)).strip() in PROTECTED_IDS.get(last, []):
            if operation_id(case) == "suspendProviderAccount":
                case.path_parameters[last] = PROTECTED_IDS["spareAccountId"][0]
                return
            case.path_parameters[last] = {"username": "missing", "staffUsername": "missing", "clientId": "0" * 20}.get(last, 10**12)
    if operation_id(case) == "updateProviderAccountUser":
        # It would disable a user of the run.
        case.path_parameters["username"] = "missing"


def use_initial(case):
    """Uses the initial instance for operations that need one. Other instances may have been deleted during the run."""
    if operation_id(case) == "createConfig":
        instance = str(case.path_parameters.get("computeId")).strip()
        if instance.isdecimal() and not instance.startswith("0"):
            case.path_parameters["computeId"] = PROTECTED_IDS["computeId"][0]


def make_unique(case):
    """Replaces labels and ranges of the document's examples, which can be created only once.

    A request with one invalid value tests that value only if the rest of the request is valid.
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
    """Records the status, so that run.py can report operations that never succeeded."""
    if response.request.method == case.operation.method.upper():
        with open(RESPONSES_FILE, "a") as responses:
            responses.write(f"{operation_id(case)} {response.status_code}\n")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether to report a failure."""
    if isinstance(failure, AcceptedNegativeData):
        return not is_error_redirect(case, response)
    return not (isinstance(failure, RejectedPositiveData) and is_expected(case, response))


def is_error_redirect(case, response):
    """Whether the response redirects with an error, as RFC 6749 requires."""
    location = response.headers.get("location", [""])[0]
    return operation_id(case) == "authorize" and response.status_code == 303 and "error=" in location


def is_expected(case, response):
    """Whether an error for an allowed request has one of the listed reasons."""
    kind = response.headers.get("content-type", [""])[0]
    if operation_id(case) in PAGES and response.status_code == 400 and kind.startswith("text/html"):
        return True
    if kind != "application/json":
        return False
    errors = response.json()["errors"]
    codes = {error["code"] for error in errors}
    if codes == {"multipart_invalid"}:
        return has_invalid_field_names(case)
    if codes == {"form_invalid"}:
        return has_repeated_fields(case)
    return all(error["code"] in NOT_IN_SCHEMA or has_host_bits(error) for error in errors)


def has_host_bits(error):
    """Whether a range of an interface, or an IPv6 range, has host bits.

    For subnets, the document has a pattern for each of 22 prefix lengths. Patterns for all prefix lengths, or for
    the text forms of IPv6, would be too long.
    """
    fields = ("ip_ranges[", "ipv6")
    return error["code"] == "cidr_host_bits" and any(field in error["field"] for field in fields)


def has_invalid_field_names(case):
    """Whether a form has a field name that is invalid in a header.

    schemathesis generates such names and does not encode them.
    """
    names = case.body if isinstance(case.body, dict) else {}
    return any(ord(letter) < 32 or ord(letter) == 127 for field in names for letter in field)


def has_repeated_fields(case):
    """Whether a form has a list or an object in an undocumented field.

    schemathesis repeats the field for each item, which Garth refuses.
    """
    return isinstance(case.body, dict) and any(isinstance(value, (list, dict)) for value in case.body.values())
