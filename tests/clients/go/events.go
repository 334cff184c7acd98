package main

import (
	"time"

	"github.com/linode/linodego"
)

func action(event linodego.Event) string { return string(event.Action) }

func eventsAndWaiting(s *session) {
	begun := time.Now().Add(-time.Minute)
	created := must(s.NewEventPollerWithoutEntity(linodego.EntityLinode, linodego.ActionLinodeCreate))
	instance := must(s.CreateInstance(s, linodego.InstanceCreateOptions{
		Region: region, Type: plan, Label: "web-1", Image: image, RootPass: "a-long-secret-of-yours",
	}))
	created.EntityID = instance.ID
	event := must(created.WaitForFinished(s, wait))
	equal(event.Entity.Label, "web-1")
	equal(event.Username, "admin")
	equal(event.PercentComplete, 100)
	must(s.WaitForInstanceStatus(s, instance.ID, linodego.InstanceRunning, wait))

	// A poller ignores earlier events. Clients rely on this to wait for the second of two boots.
	power := func(action linodego.EventAction, act func() error) *linodego.Event {
		poller := must(s.NewEventPoller(s, instance.ID, linodego.EntityLinode, action))
		done(act())
		return must(poller.WaitForFinished(s, wait))
	}
	shutdown := func() error { return s.ShutdownInstance(s, instance.ID) }
	boot := func() error { return s.BootInstance(s, instance.ID, 0) }
	first := power(linodego.ActionLinodeShutdown, shutdown)
	power(linodego.ActionLinodeBoot, boot)
	expect(power(linodego.ActionLinodeShutdown, shutdown).ID > first.ID, "the poller returned the first event")

	// The events of disks have the instance as entity and the disk as secondary entity.
	list := must(s.ListInstanceDisks(s, instance.ID, nil))
	secondary := must(s.NewEventPollerWithSecondary(s, instance.ID, linodego.EntityLinode, list[1].ID, linodego.ActionDiskDelete))
	done(s.DeleteInstanceDisk(s, instance.ID, list[0].ID))
	done(s.DeleteInstanceDisk(s, instance.ID, list[1].ID))
	deleted := must(secondary.WaitForFinished(s, wait))
	equal(deleted.SecondaryEntity.Label, list[1].Label)
	done(s.WaitForResourceFree(s, linodego.EntityLinode, instance.ID, wait))

	done(s.DeleteInstance(s, instance.ID))
	event = must(s.WaitForEventFinished(s, instance.ID, linodego.EntityLinode, linodego.ActionLinodeDelete, begun, wait))
	equal(event.Status, linodego.EventFinished)
	vpc := s.vpc("vpc-one", "10.0.0.0/24")

	all := must(s.ListEvents(s, nil))
	equal(all[0].Action, linodego.ActionVPCSubnetCreate)
	ofVPC := filter(map[string]any{"entity.type": "vpc", "entity.id": vpc.ID})
	event = &[]linodego.Event{only(s.ListEvents(s, ofVPC))}[0]
	equal(event.Status, linodego.EventNotification)
	equal(event.Entity.URL, "/v4/vpcs/1")
	oldest := filter(map[string]any{"+order_by": "id", "+order": "asc"})
	ascending := must(s.ListEvents(s, oldest))
	equal(ascending[0].Action, linodego.ActionUserCreate)
	equal(ascending[1].Action, linodego.ActionLinodeCreate)
	equal(must(s.GetEvent(s, event.ID)).ID, event.ID)
	done(s.MarkEventRead(s, event))
	expect(must(s.GetEvent(s, event.ID)).Read, "not marked as read")
	done(s.MarkEventsSeen(s, event))
	unseen := must(s.ListEvents(s, filter(map[string]any{"seen": false})))
	equal(names(unseen, action), "subnet_create")
	_, err := s.GetEvent(s, 99999)
	notFound(err)
}
