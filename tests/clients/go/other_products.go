package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/linode/linodego"
)

type lister[T any] func(context.Context, *linodego.ListOptions) ([]T, error)

func empty[T any](s *session, list lister[T]) {
	equal(len(must(list(s, nil))), 0)
	equal(len(must(list(s, filter(map[string]any{"+order": "desc"})))), 0)
}

// emptyCollections lists products that Garth does not have.
func emptyCollections(s *session) {
	empty(s, s.ListFirewalls)
	empty(s, s.ListFirewallTemplates)
	empty(s, s.ListVolumes)
	empty(s, s.ListNodeBalancers)
	empty(s, s.ListDomains)
	empty(s, s.ListStackscripts)
	empty(s, s.ListLKEClusters)
	empty(s, s.ListDatabases)
	empty(s, s.ListDatabaseTypes)
	empty(s, s.ListPlacementGroups)
	empty(s, s.ListLocks)
	empty(s, s.ListLongviewClients)
	empty(s, s.ListLongviewSubscriptions)
	empty(s, s.ListObjectStorageClusters)
	empty(s, s.ListNotifications)
	empty(s, s.ListMaintenances)
	empty(s, s.ListInvoices)
	empty(s, s.ListPayments)
	empty(s, s.ListPaymentMethods)
	empty(s, s.ListAccountServiceTransfer)
	empty(s, s.ListBetaPrograms)
	empty(s, s.ListAccountBetaPrograms)
	empty(s, s.ListChildAccounts)
	empty(s, s.ListNetworkTransferPrices)
	empty(s, s.ListVLANs)
	expect(must(s.GetFirewallSettings(s)).DefaultFirewallIDs.Linode == nil, "a default firewall")
	must(s.GetLongviewPlan(s))
}

// refusalsAndErrors checks that linodego shows the reasons of refusals.
func refusalsAndErrors(s *session) {
	_, err := s.CreateFirewall(s, linodego.FirewallCreateOptions{Label: "web"})
	s.refused(err, 400, "not_offered")
	_, err = s.CreateVolume(s, linodego.VolumeCreateOptions{Label: "data", Region: region, Size: 20})
	s.refused(err, 400, "not_offered")
	_, err = s.CreateNodeBalancer(s, linodego.NodeBalancerCreateOptions{Region: region})
	s.refused(err, 400, "not_offered")
	_, err = s.CreateDomain(s, linodego.DomainCreateOptions{Domain: "example.com", Type: "master"})
	s.refused(err, 400, "not_offered")
	instance := s.instanceWith("web-1")
	lock := linodego.LockCreateOptions{EntityType: linodego.EntityLinode, EntityID: instance.ID, LockType: linodego.LockTypeCannotDelete}
	_, err = s.CreateLock(s, lock)
	s.refused(err, 400, "not_offered")
	s.refused(s.ResizeInstance(s, instance.ID, linodego.InstanceResizeOptions{Type: "g6-standard-1"}), 400, "not_offered")
	_, err = s.RebuildInstance(s, instance.ID, linodego.InstanceRebuildOptions{Image: image, RootPass: "a-long-secret-of-yours"})
	s.refused(err, 400, "not_offered")
	_, err = s.CloneInstance(s, instance.ID, linodego.InstanceCloneOptions{Region: region})
	s.refused(err, 400, "not_offered")
	s.refused(s.MigrateInstance(s, instance.ID, linodego.InstanceMigrateOptions{}), 400, "not_offered")
	s.refused(s.RescueInstance(s, instance.ID, linodego.InstanceRescueOptions{}), 400, "not_offered")
	s.refused(s.EnableInstanceBackups(s, instance.ID), 400, "not_offered")

	_, err = s.CreateInstance(s, linodego.InstanceCreateOptions{Region: "no-where", Type: "none"})
	expect(linodego.ErrHasStatus(err, 400), "expected 400: %v", err)
	for _, field := range []string{"[type]", "[region]"} {
		expect(strings.Contains(err.Error(), field), "%s is missing: %v", field, err)
	}
	_, err = s.ListVPCs(s, linodego.NewListOptions(0, `{"no_such_field":1}`))
	expect(linodego.ErrHasStatus(err, 400), "expected 400: %v", err)
	_, err = s.ListVPCs(s, linodego.NewListOptions(99, ""))
	expect(err == nil || linodego.ErrHasStatus(err, 400, 404), "%v", err)
	for _, missing := range []func() error{
		func() error { _, err := s.GetVPC(s, 99999); return err },
		func() error { _, err := s.GetInstance(s, 99999); return err },
		func() error { _, err := s.GetFirewall(s, 99999); return err },
		func() error { _, err := s.GetUser(s, "stranger"); return err },
		func() error { _, err := s.GetImage(s, "linode/none"); return err },
		func() error { return s.DeleteVPC(s, 99999) },
	} {
		notFound(missing())
	}
	stranger := s.client(s.root, strings.Repeat("0", 64))
	_, err = stranger.GetProfile(s)
	expect(linodego.ErrHasStatus(err, 401), "expected 401: %v", err)
	expect(json.Valid(s.body), "%s", s.body)
}
