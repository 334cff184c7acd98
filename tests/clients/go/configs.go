package main

import (
	"github.com/linode/linodego"
)

func public() linodego.InstanceConfigInterfaceCreateOptions {
	return linodego.InstanceConfigInterfaceCreateOptions{Purpose: linodego.InterfacePurposePublic}
}

func vlan(label string) linodego.InstanceConfigInterfaceCreateOptions {
	return linodego.InstanceConfigInterfaceCreateOptions{
		Purpose: linodego.InterfacePurposeVLAN, Label: label, IPAMAddress: "10.1.0.1/24",
	}
}

func purpose(one linodego.InstanceConfigInterface) string { return string(one.Purpose) }

func configs(s *session) {
	instance := s.instanceWith("web-1")
	equal(len(must(s.ListInstanceConfigs(s, instance.ID, nil))), 0)
	disk := must(s.CreateInstanceDisk(s, instance.ID, linodego.InstanceDiskCreateOptions{
		Label: "boot", Size: 3000, Image: image, RootPass: "a-long-secret-of-yours",
	}))
	config := must(s.CreateInstanceConfig(s, instance.ID, linodego.InstanceConfigCreateOptions{
		Label: "first", Comments: "Made by a test", Kernel: "linode/grub2", RunLevel: "default", VirtMode: "paravirt",
		Devices: linodego.InstanceConfigDeviceMap{SDA: &linodego.InstanceConfigDevice{DiskID: disk.ID}},
		Helpers: &linodego.InstanceConfigHelpers{Network: true, Distro: true}, RootDevice: pointer("/dev/sda"),
	}))
	equal(config.Devices.SDA.DiskID, disk.ID)
	expect(config.Helpers.Network && config.Kernel == "linode/grub2" && config.RootDevice == "/dev/sda", "%v", config)
	second := must(s.CreateInstanceConfig(s, instance.ID, linodego.InstanceConfigCreateOptions{Label: "second"}))
	equalJSON(must(s.GetInstanceConfig(s, instance.ID, config.ID)), config)
	list := must(s.ListInstanceConfigs(s, instance.ID, nil))
	equal(names(list, func(config linodego.InstanceConfig) string { return config.Label }), "first second")

	changed := config.GetUpdateOptions()
	changed.Comments, changed.Label = "Changed", "main"
	changed.Interfaces = []linodego.InstanceConfigInterfaceCreateOptions{public(), vlan("internal")}
	updated := must(s.UpdateInstanceConfig(s, instance.ID, config.ID, changed))
	equal(updated.Comments+updated.Label, "Changedmain")
	equal(names(updated.Interfaces, purpose), "public vlan")
	equal(updated.Devices.SDA.DiskID, disk.ID)
	equal(must(s.RenameInstanceConfig(s, instance.ID, second.ID, "spare")).Label, "spare")

	done(s.BootInstance(s, instance.ID, config.ID))
	must(s.WaitForInstanceStatus(s, instance.ID, linodego.InstanceRunning, wait))
	done(s.DeleteInstanceConfig(s, instance.ID, second.ID))
	_, err := s.GetInstanceConfig(s, instance.ID, second.ID)
	notFound(err)
	equal(only(s.ListVLANs(s, nil)).Label, "internal")
	equal(must(s.GetVLANIPAMAddress(s, instance.ID, "internal")), "10.1.0.1/24")
}

func interfaces(s *session) {
	vpc := s.vpc("vpc-one", "10.0.0.0/24", "10.0.1.0/24")
	subnet := vpc.Subnets[0].ID
	instance := s.instanceWith("web-1")
	config := must(s.CreateInstanceConfig(s, instance.ID, linodego.InstanceConfigCreateOptions{Label: "main"}))
	list := func() []linodego.InstanceConfigInterface {
		return must(s.ListInstanceConfigInterfaces(s, instance.ID, config.ID))
	}
	equal(len(list()), 0)
	_, err := s.AppendInstanceConfigInterface(s, instance.ID, config.ID, linodego.InstanceConfigInterfaceCreateOptions{
		Purpose: linodego.InterfacePurposeVPC, SubnetID: pointer(99999),
	})
	s.refused(err, 400, "subnet_id")
	first := must(s.AppendInstanceConfigInterface(s, instance.ID, config.ID, public()))
	second := must(s.AppendInstanceConfigInterface(s, instance.ID, config.ID, linodego.InstanceConfigInterfaceCreateOptions{
		Purpose: linodego.InterfacePurposeVPC, SubnetID: &subnet, IPRanges: []string{"10.0.0.64/28"},
		IPv4: &linodego.VPCIPv4{VPC: "10.0.0.9", NAT1To1: pointer("any")},
	}))
	equal(second.IPv4.VPC, "10.0.0.9")
	equal(*second.IPv4.NAT1To1, instance.IPv4[0].String())
	equal(*second.VPCID, vpc.ID)
	equalJSON(second.IPRanges, []string{"10.0.0.64/28"})
	third := must(s.AppendInstanceConfigInterface(s, instance.ID, config.ID, vlan("internal")))
	equal(names(list(), purpose), "public vpc vlan")
	order := linodego.InstanceConfigInterfacesReorderOptions{IDs: []int{second.ID, first.ID, third.ID}}
	done(s.ReorderInstanceConfigInterfaces(s, instance.ID, config.ID, order))
	equal(names(list(), purpose), "vpc public vlan")
	equalJSON(must(s.GetInstanceConfigInterface(s, instance.ID, config.ID, second.ID)), second)

	changed := must(s.UpdateInstanceConfigInterface(s, instance.ID, config.ID, second.ID, linodego.InstanceConfigInterfaceUpdateOptions{
		Primary: true, IPv4: &linodego.VPCIPv4{VPC: "10.0.0.10", NAT1To1: pointer("any")}, IPRanges: pointer([]string{}),
	}))
	expect(changed.Primary && changed.IPv4.VPC == "10.0.0.10" && len(changed.IPRanges) == 0, "%v", changed)
	done(s.BootInstance(s, instance.ID, config.ID))
	must(s.WaitForInstanceStatus(s, instance.ID, linodego.InstanceRunning, wait))
	expect(must(s.GetInstanceConfigInterface(s, instance.ID, config.ID, second.ID)).Active, "not active after the boot")

	done(s.ShutdownInstance(s, instance.ID))
	must(s.WaitForInstanceStatus(s, instance.ID, linodego.InstanceOffline, wait))
	done(s.DeleteInstanceConfigInterface(s, instance.ID, config.ID, third.ID))
	_, err = s.GetInstanceConfigInterface(s, instance.ID, config.ID, third.ID)
	notFound(err)
	equal(names(list(), purpose), "vpc public")
}
