package garthtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC)

func equal[T comparable](t *testing.T, found, expected T) {
	t.Helper()
	if found != expected {
		t.Fatalf("found %v, expected %v", found, expected)
	}
}

func equalLists(t *testing.T, found, expected []string) {
	t.Helper()
	if !slices.Equal(found, expected) {
		t.Fatalf("found %v, expected %v", found, expected)
	}
}

func TestTenantsDoNotSeeEachOther(t *testing.T) {
	srv := Shared(t)
	first, second := srv.Tenant(t), srv.Tenant(t)
	created := clientOf(first).mustCreateVPC(t, "core")
	equalLists(t, clientOf(first).labels(t), []string{"core"})
	equalLists(t, clientOf(second).labels(t), nil)
	equal(t, clientOf(second).status(t, "GET", fmt.Sprintf("/vpcs/%d", created.ID)), 404)
}

func TestParallelTestsShareAServer(t *testing.T) {
	for number := range 20 {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			t.Parallel()
			tenant := Shared(t).Tenant(t)
			clientOf(tenant).mustCreateVPC(t, "core")
			equalLists(t, clientOf(tenant).labels(t), []string{"core"})
		})
	}
}

func TestATenantHasTheFieldsThatClientsNeed(t *testing.T) {
	srv := Shared(t)
	tenant := srv.Tenant(t)
	var profile struct{ Username string }
	if _, err := clientOf(tenant).send("GET", "/profile", nil, &profile); err != nil {
		t.Fatal(err)
	}
	equal(t, profile.Username, tenant.Username)
	equal(t, tenant.APIURL, srv.URL+"/v4")
}

func TestAFrozenClockSetsTheTimesOfObjects(t *testing.T) {
	srv := Start(t)
	equal(t, srv.Freeze(t, noon.In(time.FixedZone("two hours east", 7200))), noon)
	equal(t, clientOf(srv.Tenant(t)).mustCreateVPC(t, "core").Created, "2024-06-01T12:00:00")
	equal(t, srv.Advance(t, time.Hour), noon.Add(time.Hour))
	equal(t, srv.Now(t), noon.Add(time.Hour))
	srv.Unfreeze(t)
	deadline := time.Now().Add(10 * time.Second)
	for srv.Now(t).Equal(noon.Add(time.Hour)) {
		if time.Now().After(deadline) {
			t.Fatal("the clock does not run on")
		}
	}
}

func TestFreezingWithoutATimeStopsTheClockAtTheCurrentOne(t *testing.T) {
	srv := Start(t)
	if difference := srv.Freeze(t, time.Time{}).Sub(time.Now()).Abs(); difference > time.Minute {
		t.Fatalf("the clock differs by %v", difference)
	}
}

func TestTheNextRequestsFailInOrder(t *testing.T) {
	srv := Start(t)
	client := clientOf(srv.Tenant(t))
	srv.FailNext(t, Fault{Method: "GET", Path: "/vpcs", Status: 503})
	srv.FailNext(t, Fault{Operation: "getVpcs", Status: 429, Times: 2})
	for _, expected := range []int{503, 429, 429, 200} {
		equal(t, client.status(t, "GET", "/vpcs"), expected)
	}
	srv.FailNext(t, Fault{Status: 500, Times: Always})
	equal(t, client.status(t, "GET", "/vpcs"), 500)
	equal(t, client.status(t, "GET", "/vpcs"), 500)
	srv.ClearFaults(t)
	equal(t, client.status(t, "GET", "/vpcs"), 200)
}

func TestAFaultOfATenantConcernsOnlyItsAccount(t *testing.T) {
	srv := Start(t)
	first, second := srv.Tenant(t), srv.Tenant(t)
	first.FailNext(t, Fault{Path: "/vpcs", Status: 500})
	equal(t, clientOf(second).status(t, "GET", "/vpcs"), 200)
	equal(t, clientOf(first).status(t, "GET", "/vpcs"), 500)
}

func TestAConnectionDroppedAfterTheCommitHasAnEffect(t *testing.T) {
	srv := Start(t)
	client := clientOf(srv.Tenant(t))
	srv.FailNext(t, Fault{Method: "POST", Path: "/vpcs", Drop: "after"})
	if _, status, err := client.createVPC("core"); err == nil {
		t.Fatalf("the connection was not dropped: %d", status)
	}
	equalLists(t, client.labels(t), []string{"core"})
	equal(t, srv.Requests(t)[0].Status, 0)
}

func TestAnInvalidFaultIsRefusedWithItsField(t *testing.T) {
	srv := Start(t)
	message := fatalMessage(t, func(t testing.TB) { srv.FailNext(t, Fault{Status: 200}) })
	if !strings.Contains(message, " action.status: Must be 400 to 599") {
		t.Fatal(message)
	}
}

func TestChangesEndWithTheTest(t *testing.T) {
	srv := Start(t)
	tenant, other := srv.Tenant(t), srv.Tenant(t)
	other.FailNext(t, Fault{Path: "/profile", Status: 500})
	t.Run("changes", func(t *testing.T) {
		srv.Freeze(t, noon)
		tenant.FailNext(t, Fault{Status: 500, Times: Always})
		srv.ChangeSettings(t, map[string]any{"quota.vpcs_per_region": 0})
	})
	if difference := srv.Now(t).Sub(time.Now()).Abs(); difference > time.Minute {
		t.Fatalf("the clock differs by %v", difference)
	}
	clientOf(tenant).mustCreateVPC(t, "core")
	equal(t, clientOf(other).status(t, "GET", "/profile"), 500)
}

func TestASubtestDeletesOnlyItsOwnFault(t *testing.T) {
	srv := Start(t)
	client := clientOf(srv.Tenant(t))
	srv.FailNext(t, Fault{Path: "/vpcs", Status: 503, Times: Always})
	t.Run("the same requests", func(t *testing.T) {
		srv.FailNext(t, Fault{Path: "/vpcs", Status: 503, Times: Always})
	})
	equal(t, client.status(t, "GET", "/vpcs"), 503)
	t.Run("deleted before", func(t *testing.T) {
		srv.FailNext(t, Fault{Path: "/profile", Status: 503})
		srv.ClearFaults(t)
	})
}

func TestChangedSettingsApply(t *testing.T) {
	srv := Start(t)
	client := clientOf(srv.Tenant(t))
	srv.ChangeSettings(t, map[string]any{"quota.vpcs_per_region": 1})
	client.mustCreateVPC(t, "core")
	if _, status, err := client.createVPC("edge"); err != nil || status != 400 {
		t.Fatalf("the limit does not apply: %d, %v", status, err)
	}
}

func TestASnapshotRestoresRows(t *testing.T) {
	srv := Start(t)
	client := clientOf(srv.Tenant(t))
	empty := srv.Snapshot(t, "")
	client.mustCreateVPC(t, "core")
	srv.Snapshot(t, "one-vpc")
	empty.Restore(t)
	equalLists(t, client.labels(t), nil)
	srv.Restore(t, "one-vpc")
	equalLists(t, client.labels(t), []string{"core"})
	empty.Delete(t)
	if message := fatalMessage(t, empty.Restore); !strings.Contains(message, "404") {
		t.Fatal(message)
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	srv := Start(t)
	tenant := srv.Tenant(t)
	client := clientOf(tenant)
	client.labels(t)
	srv.FailNext(t, Fault{Status: 503})
	client.status(t, "GET", "/profile")
	requests := srv.Requests(t)
	equal(t, len(requests), 2)
	equal(t, requests[0], Request{"GET", "/v4/vpcs", 200, "getVpcs", tenant.AccountID, false})
	equal(t, requests[1], Request{"GET", "/v4/profile", 503, "getProfile", tenant.AccountID, true})
	srv.ClearRequests(t)
	equal(t, len(srv.Requests(t)), 0)
}

func TestAResetDeletesTenants(t *testing.T) {
	srv := Start(t)
	client := clientOf(srv.Tenant(t))
	admin := clientOf(&Tenant{Server: srv, Token: srv.Token})
	admin.mustCreateVPC(t, "core")
	srv.Reset(t)
	equal(t, client.status(t, "GET", "/vpcs"), 401)
	equalLists(t, admin.labels(t), nil)
}
