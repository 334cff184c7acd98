package main

import (
	"time"

	"github.com/linode/linodego"
)

const wait = 30

func pointer[T any](value T) *T { return &value }

// instanceWith creates an instance without an image, with a config of these interfaces.
func (s *session) instanceWith(label string, interfaces ...linodego.InstanceConfigInterfaceCreateOptions) *linodego.Instance {
	options := linodego.InstanceCreateOptions{Region: region, Type: plan, Label: label, Booted: pointer(false)}
	options.Interfaces = interfaces
	return must(s.CreateInstance(s, options))
}

// deployed creates an instance with an image and waits until it runs.
func (s *session) deployed(label string) *linodego.Instance {
	instance := must(s.CreateInstance(s, linodego.InstanceCreateOptions{
		Region: region, Type: plan, Label: label, Image: image, RootPass: "a-long-secret-of-yours",
	}))
	return must(s.WaitForInstanceStatus(s, instance.ID, linodego.InstanceRunning, wait))
}

func instanceLabel(instance linodego.Instance) string { return instance.Label }

func instances(s *session) {
	begun := time.Now().Add(-time.Minute)
	created := must(s.CreateInstance(s, linodego.InstanceCreateOptions{
		Region: region, Type: plan, Label: "web-1", Image: image, RootPass: "a-long-secret-of-yours",
		SwapSize: pointer(256), Tags: []string{"production"},
		AuthorizedKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqkHPoX9YgFVE6ezgT5hTAGrRX8MyyYFtAWCXEp6Wu2 ada"},
		Metadata:       &linodego.InstanceMetadataOptions{UserData: "I2Nsb3VkLWNvbmZpZwo="},
	}))
	id := created.ID
	must(s.WaitForEventFinished(s, id, linodego.EntityLinode, linodego.ActionLinodeCreate, begun, wait))
	must(s.WaitForEventFinished(s, id, linodego.EntityLinode, linodego.ActionLinodeBoot, begun, wait))
	instance := must(s.WaitForInstanceStatus(s, id, linodego.InstanceRunning, wait))
	equal(instance.Image, image)
	equal(len(instance.IPv4), 1)
	equal(instance.Specs.Memory, 1024)
	equalJSON(instance.Tags, []string{"production"})
	expect(instance.HasUserData && instance.HostUUID != "" && instance.Hypervisor == "kvm", "%v", instance)
	expect(instance.Created != nil && instance.Alerts != nil && instance.Backups != nil, "%v", instance)
	equal(instance.InterfaceGeneration, linodego.GenerationLegacyConfig)

	other := s.instanceWith("web-2")
	equal(other.Status, linodego.InstanceOffline)
	equal(names(must(s.ListInstances(s, nil)), instanceLabel), "web-1 web-2")
	for value, labels := range map[string]string{
		`{"label":"web-2"}`:                     "web-2",
		`{"tags":"production"}`:                 "web-1",
		`{"region":"eu-west"}`:                  "",
		`{"+order_by":"label","+order":"desc"}`: "web-2 web-1",
	} {
		found := must(s.ListInstances(s, linodego.NewListOptions(0, value)))
		expect(names(found, instanceLabel) == labels, "%s: %v", value, names(found, instanceLabel))
	}

	renamed := must(s.RenameInstance(s, id, "web-main"))
	equal(renamed.Label, "web-main")
	changed := must(s.UpdateInstance(s, id, linodego.InstanceUpdateOptions{
		Tags: pointer([]string{"production", "public-facing"}), WatchdogEnabled: pointer(false), Group: pointer("web"),
		Alerts: &linodego.InstanceAlert{CPU: 80, IO: 9000, NetworkIn: 5, NetworkOut: 6, TransferQuota: 70},
	}))
	equal(len(changed.Tags), 2)
	expect(!changed.WatchdogEnabled && changed.Group == "web" && changed.Alerts.CPU == 80, "%v", changed)
	equal(must(s.GetInstance(s, id)).Alerts.TransferQuota, 70)

	done(s.ShutdownInstance(s, id))
	must(s.WaitForInstanceStatus(s, id, linodego.InstanceOffline, wait))
	done(s.BootInstance(s, id, 0))
	must(s.WaitForInstanceStatus(s, id, linodego.InstanceRunning, wait))
	done(s.RebootInstance(s, id, 0))
	must(s.WaitForEventFinished(s, id, linodego.EntityLinode, linodego.ActionLinodeReboot, begun, wait))
	must(s.WaitForInstanceStatus(s, id, linodego.InstanceRunning, wait))

	equal(must(s.GetInstanceTransfer(s, id)).Used, 0)
	now := time.Now().UTC()
	equal(must(s.GetInstanceTransferMonthlyV2(s, id, now.Year(), int(now.Month()))).BytesTotal, 0)
	_, err := s.GetInstanceStats(s, id)
	expect(linodego.ErrHasStatus(err, 400), "there are statistics: %v", err)
	_, err = s.GetInstanceStatsByDate(s, id, now.Year(), int(now.Month()))
	expect(linodego.ErrHasStatus(err, 400), "there are statistics: %v", err)
	backups := must(s.GetInstanceBackups(s, id))
	equal(len(backups.Automatic), 0)
	equal(len(must(s.ListInstanceFirewalls(s, id, nil))), 0)
	equal(len(must(s.ListInstanceVolumes(s, id, nil))), 0)
	equal(len(must(s.ListInstanceNodeBalancers(s, id, nil))), 0)

	for _, id := range []int{id, other.ID} {
		done(s.DeleteInstance(s, id))
		must(s.WaitForEventFinished(s, id, linodego.EntityLinode, linodego.ActionLinodeDelete, begun, wait))
		_, err := s.GetInstance(s, id)
		notFound(err)
	}
}

func disks(s *session) {
	instance := s.deployed("web-1")
	list := must(s.ListInstanceDisks(s, instance.ID, nil))
	equal(names(list, func(disk linodego.InstanceDisk) string { return string(disk.Filesystem) }), "ext4 swap")
	equal(list[0].Size+list[1].Size, instance.Specs.Disk)
	must(s.WaitForInstanceDiskStatus(s, instance.ID, list[0].ID, linodego.DiskReady, wait))

	empty := s.instanceWith("web-2")
	equal(len(must(s.ListInstanceDisks(s, empty.ID, nil))), 0)
	poller := must(s.NewEventPoller(s, empty.ID, linodego.EntityLinode, linodego.ActionDiskCreate))
	boot := must(s.CreateInstanceDisk(s, empty.ID, linodego.InstanceDiskCreateOptions{
		Label: "boot", Size: 3000, Image: image, RootPass: "a-long-secret-of-yours",
	}))
	created := must(poller.WaitForFinished(s, wait))
	equal(created.SecondaryEntity.Label, "boot")
	must(s.WaitForInstanceDiskStatus(s, empty.ID, boot.ID, linodego.DiskReady, wait))
	data := must(s.CreateInstanceDisk(s, empty.ID, linodego.InstanceDiskCreateOptions{
		Label: "data", Size: 1000, Filesystem: string(linodego.FilesystemRaw),
	}))
	equal(data.Filesystem, linodego.FilesystemRaw)
	equalJSON(must(s.GetInstanceDisk(s, empty.ID, boot.ID)).Label, "boot")
	equal(must(s.RenameInstanceDisk(s, empty.ID, data.ID, "files")).Label, "files")
	resized := must(s.NewEventPoller(s, empty.ID, linodego.EntityLinode, linodego.ActionDiskResize))
	done(s.ResizeInstanceDisk(s, empty.ID, data.ID, 2000))
	must(resized.WaitForFinished(s, wait))
	equal(must(s.GetInstanceDisk(s, empty.ID, data.ID)).Size, 2000)
	done(s.PasswordResetInstanceDisk(s, empty.ID, boot.ID, "another-long-secret-of-yours"))
	err := s.ResetInstancePassword(s, empty.ID, linodego.InstancePasswordResetOptions{RootPass: "one-more-secret-of-yours"})
	s.refused(err, 400, "disk_ambiguous")
	_, err = s.CreateInstanceDisk(s, empty.ID, linodego.InstanceDiskCreateOptions{Label: "huge", Size: 9_000_000})
	s.refused(err, 400, "size")
	done(s.DeleteInstanceDisk(s, empty.ID, data.ID))
	_, err = s.GetInstanceDisk(s, empty.ID, data.ID)
	notFound(err)
	equal(only(s.ListInstanceDisks(s, empty.ID, nil)).ID, boot.ID)
	done(s.ResetInstancePassword(s, empty.ID, linodego.InstancePasswordResetOptions{RootPass: "one-more-secret-of-yours"}))
}
