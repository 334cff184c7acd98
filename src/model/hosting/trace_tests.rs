//! Tests of traces, on two hosts with three instances in two subnets.

use crate::model::cidr::{Cidr, Cidr6};
use crate::model::host_warning::{HostWarning, WarningCode};
use crate::model::id::{HostId, InstanceId, InterfaceId, SubnetId, VpcId};
use crate::model::interface::{Interface, Ipv6Attachment, Purpose, VpcAttachment};
use crate::model::port::PortState;
use crate::model::time::Time;
use crate::model::trace::{
    DropCause, Outcome, ReportAge, SenderPower, Trace, TraceHost, TraceNetwork, TracePort, TraceSubnet, trace,
};

/// The report of a host some seconds ago.
fn reported(host: i64, seconds: i64) -> ReportAge {
    let now = Time::from_seconds(1_000_000);
    ReportAge::new(&format!("rack-{host}"), Some(now.plus_seconds(-seconds)), now)
}

/// Instance `number` with the address `10.0.SUBNET.NUMBER`.
fn interface(number: i64, subnet: i64) -> Interface {
    let network = Cidr6::parse(&format!("fd00:0:0:{:x}::/64", subnet * 16 + number)).unwrap();
    Interface {
        id: InterfaceId(number),
        instance: InstanceId(number),
        purpose: Purpose::Vpc,
        primary: false,
        active: true,
        label: None,
        ipam_address: None,
        vpc: Some(VpcAttachment {
            vpc: VpcId(1),
            subnet: SubnetId(subnet),
            address: 0x0a00_0000 | (subnet as u32) << 8 | number as u32,
            nat_1_1: None,
            ranges: Vec::new(),
            ipv6: Some(Ipv6Attachment {
                slaac: Some(network),
                ranges: Vec::new(),
                is_public: false,
            }),
        }),
    }
}

/// Instances 2 and 3 in subnet 0, and 4 in subnet 1. Instances 2 and 4 are on host 1, and 3 on host 2.
fn network() -> TraceNetwork {
    let subnet = |id: i64, label: &str| TraceSubnet {
        id: SubnetId(id),
        label: label.to_owned(),
        ipv4: Cidr::parse(&format!("10.0.{id}.0/24")).unwrap(),
        ipv6: Some(Cidr6::parse(&format!("fd00:0:0:{:x}::/60", id * 16)).unwrap()),
        tunnel: 70 + id,
    };
    let port = |number: i64, host: i64| {
        let port = TracePort {
            host: HostId(host),
            state: PortState::Up,
            reason: None,
            instance: format!("instance-{number}"),
        };
        (InterfaceId(number), port)
    };
    let host = |number: i64| {
        let host = TraceHost {
            label: format!("rack-{number}"),
            underlay_address: format!("192.0.2.{number}"),
            report: reported(number, 3),
            has_credential: true,
            has_key: false,
            is_current: true,
            warnings: Vec::new(),
        };
        (HostId(number), host)
    };
    TraceNetwork {
        host_at_address: None,
        sender: "instance-2".to_owned(),
        power: SenderPower::Running,
        source: Some(InterfaceId(2)),
        subnets: vec![subnet(0, "front"), subnet(1, "back")],
        interfaces: vec![interface(2, 0), interface(3, 0), interface(4, 1)],
        ports: [port(2, 1), port(3, 2), port(4, 1)].into(),
        hosts: [host(1), host(2)].into(),
        is_in_other_vpc: false,
        is_encrypted: false,
    }
}

fn trace_to(network: &TraceNetwork, address: &str) -> Trace {
    trace(network, address.parse().unwrap())
}

/// The cause of a drop.
fn cause(network: &TraceNetwork, address: &str) -> DropCause {
    match trace_to(network, address).outcome {
        Outcome::Dropped(cause, _) => cause,
        other => panic!("{address}: {other:?}"),
    }
}

fn actions(network: &TraceNetwork, address: &str) -> Vec<String> {
    let trace = trace_to(network, address);
    assert_eq!(trace.outcome, Outcome::Delivered, "{address}");
    let hops = trace.hops.into_iter();
    hops.map(|hop| format!("{}: {}", hop.place, hop.action)).collect()
}

#[test]
fn a_packet_in_a_subnet_crosses_the_tunnel_to_the_other_host() {
    let accepted = "rack-1: accepts the source addresses of the port";
    assert_eq!(
        actions(&network(), "10.0.0.3"),
        [
            "instance-2: sends from 10.0.0.2 through interface 2",
            accepted,
            "rack-1: sends through the tunnel 70 from 192.0.2.1 to 192.0.2.2, not encrypted",
            "rack-2: delivers to instance-3 through interface 3",
        ]
    );
    assert_eq!(
        actions(&network(), "10.0.1.4"),
        [
            "instance-2: sends from 10.0.0.2 through interface 2",
            accepted,
            "rack-1: routes from subnet front to subnet back",
            "rack-1: delivers to instance-4 through interface 4",
        ],
        "another subnet on the same host"
    );
    let ipv6 = "fd00::3:2000:ff:fe00:3";
    assert_eq!(
        actions(&network(), ipv6).last().map(String::as_str),
        Some("rack-2: delivers to instance-3 through interface 3")
    );
    assert_eq!(actions(&network(), "10.0.1.1").len(), 3, "a gateway");
    assert_eq!(actions(&network(), "10.0.0.2").len(), 2, "the own address");
}

#[test]
fn routed_ranges_are_delivered_to_their_interface() {
    let mut network = network();
    let vpc = network.interfaces[1].vpc.as_mut().unwrap();
    vpc.ranges = vec![Cidr::parse("10.0.7.64/28").unwrap()];
    vpc.ipv6.as_mut().unwrap().ranges = vec![Cidr6::parse("fd00:0:0:9::/64").unwrap()];
    for address in ["10.0.7.70", "fd00:0:0:9::1"] {
        assert!(actions(&network, address).last().unwrap().contains("instance-3"));
    }
    assert_eq!(cause(&network, "10.0.7.80"), DropCause::UnknownAddress);
}

#[test]
fn an_address_in_several_configs_is_that_of_the_running_config() {
    let mut network = network();
    let mut stopped = interface(3, 0);
    stopped.id = InterfaceId(1);
    network.interfaces.insert(0, stopped);
    assert!(
        actions(&network, "10.0.0.3")
            .last()
            .unwrap()
            .contains("interface 3")
    );
}

#[test]
fn packets_to_addresses_without_a_running_instance_are_dropped() {
    let mut network = network();
    assert_eq!(cause(&network, "10.0.0.77"), DropCause::UnknownAddress);
    assert_eq!(cause(&network, "fd00:0:0:3::77"), DropCause::UnknownAddress);
    network.ports.remove(&InterfaceId(3));
    assert_eq!(cause(&network, "10.0.0.3"), DropCause::TargetNotRunning);
    let port = network.ports.get_mut(&InterfaceId(4)).unwrap();
    port.state = PortState::Error;
    port.reason = Some("no VXLAN".to_owned());
    let Outcome::Dropped(DropCause::TargetPortNotUp, text) = trace_to(&network, "10.0.1.4").outcome else {
        panic!("the packet is delivered");
    };
    assert!(text.contains("no VXLAN"), "{text}");
}

#[test]
fn a_sender_without_a_working_port_sends_nothing() {
    let mut stopped = network();
    stopped.power = SenderPower::Off;
    assert_eq!(cause(&stopped, "10.0.0.3"), DropCause::NotRunning);
    stopped.power = SenderPower::Booting(Some("rack-1".to_owned()));
    let text = "instance-2 is booting on host rack-1".to_owned();
    let expected = Outcome::Dropped(DropCause::NotRunning, text);
    assert_eq!(trace_to(&stopped, "10.0.0.3").outcome, expected);
    stopped.ports.get_mut(&InterfaceId(2)).unwrap().state = PortState::Error;
    assert_eq!(
        cause(&stopped, "10.0.0.3"),
        DropCause::PortNotUp,
        "the port is why it boots"
    );
    let mut pending = network();
    pending.ports.get_mut(&InterfaceId(2)).unwrap().state = PortState::Pending;
    assert_eq!(cause(&pending, "10.0.0.3"), DropCause::PortNotUp);
    let mut simulated = network();
    simulated.source = None;
    assert_eq!(cause(&simulated, "10.0.0.3"), DropCause::NoPort);
    let mut ipv4 = network();
    ipv4.interfaces[0].vpc.as_mut().unwrap().ipv6 = None;
    assert_eq!(cause(&ipv4, "fd00:0:0:3::1"), DropCause::NoAddress);
}

#[test]
fn only_nat_and_public_networks_leave_the_vpc() {
    let mut network = network();
    assert_eq!(cause(&network, "198.51.100.1"), DropCause::NoNat);
    assert_eq!(cause(&network, "2001:db8::1"), DropCause::NoPublicIpv6);
    let leaves = |network: &TraceNetwork, address: &str| {
        let trace = trace_to(network, address);
        (trace.hops.len(), trace.outcome)
    };
    let text = |source: &str| {
        Outcome::Leaves(format!(
            "The packet leaves the VPC through host rack-1 with source address {source}; Garth does not know whether \
             the destination receives it"
        ))
    };
    let vpc = network.interfaces[0].vpc.as_mut().unwrap();
    vpc.nat_1_1 = Some(0xcb00_7107);
    vpc.ipv6.as_mut().unwrap().is_public = true;
    assert_eq!(leaves(&network, "198.51.100.1"), (3, text("203.0.113.7")));
    let ipv6 = "fd00::2:2000:ff:fe00:2";
    assert_eq!(leaves(&network, "2001:db8::1"), (3, text(ipv6)));
    network.hosts.get_mut(&HostId(1)).unwrap().is_current = false;
    assert!(matches!(
        leaves(&network, "198.51.100.1").1,
        Outcome::Uncertain(_)
    ));
}

#[test]
fn public_addresses_do_not_reach_hosts_and_private_networks() {
    let mut network = network();
    let vpc = network.interfaces[0].vpc.as_mut().unwrap();
    vpc.nat_1_1 = Some(0xcb00_7107);
    for address in ["10.9.9.9", "100.64.0.1", "100.127.255.254", "192.168.1.1"] {
        let outcome = trace_to(&network, address).outcome;
        assert!(matches!(outcome, Outcome::Uncertain(_)), "{address}: {outcome:?}");
    }
    assert_eq!(
        cause(&network, "fd12::1"),
        DropCause::UnknownAddress,
        "IPv6 is not public"
    );
    for address in ["100.63.255.255", "100.128.0.1"] {
        let outcome = trace_to(&network, address).outcome;
        assert!(matches!(outcome, Outcome::Leaves(_)), "{address}: {outcome:?}");
    }
    let vpc = network.interfaces[0].vpc.as_mut().unwrap();
    vpc.ipv6.as_mut().unwrap().is_public = true;
    let outcome = trace_to(&network, "fd12::1").outcome;
    assert!(matches!(outcome, Outcome::Uncertain(_)), "{outcome:?}");
    network.is_in_other_vpc = true;
    assert_eq!(cause(&network, "10.9.9.9"), DropCause::OtherVpc);
    network.host_at_address = Some("rack-2".to_owned());
    assert_eq!(cause(&network, "192.0.2.2"), DropCause::HostAddress);
}

#[test]
fn an_instance_receives_its_own_packets() {
    let mut network = network();
    network.ports.get_mut(&InterfaceId(2)).unwrap().state = PortState::Error;
    assert_eq!(trace_to(&network, "10.0.0.2").outcome, Outcome::Delivered);
}

#[test]
fn nat_is_no_advice_for_addresses_that_no_public_network_routes() {
    let mut network = network();
    let refused = |network: &TraceNetwork, address: &str| match trace_to(network, address).outcome {
        Outcome::Dropped(cause, text) => (cause, text),
        other => panic!("{address}: {other:?}"),
    };
    for address in ["10.9.9.9", "192.168.1.1", "172.16.0.1", "fd12::1"] {
        let (cause, text) = refused(&network, address);
        assert_eq!(cause, DropCause::UnknownAddress, "{address}");
        assert!(text.contains("not in this VPC"), "{text}");
    }
    network.is_in_other_vpc = true;
    for address in ["10.9.9.9", "fd00:0:1::1"] {
        let (cause, text) = refused(&network, address);
        assert_eq!(cause, DropCause::OtherVpc, "{address}");
        assert!(text.contains("would not help"), "{text}");
    }
}

#[test]
fn a_trace_has_the_age_of_the_reports_on_its_path() {
    let mut network = network();
    network.hosts.get_mut(&HostId(2)).unwrap().report = reported(2, 61);
    let reports = |address: &str| trace_to(&network, address).reports;
    assert_eq!(reports("10.0.1.4"), [reported(1, 3)], "one host, named once");
    let both = reports("10.0.0.3");
    assert_eq!(both, [reported(1, 3), reported(2, 61)]);
    assert_eq!(
        both.iter().map(ReportAge::is_stale).collect::<Vec<_>>(),
        [false, true]
    );
    let texts = [
        (0, "0 seconds ago"),
        (1, "1 second ago"),
        (90, "90 seconds ago"),
        (7000, "116 minutes ago"),
    ];
    for (seconds, text) in texts {
        assert_eq!(reported(1, seconds).text(), format!("rack-1 reported {text}"));
    }
}

#[test]
fn hosts_of_a_region_that_encrypts_need_keys() {
    let mut network = network();
    network.is_encrypted = true;
    assert_eq!(cause(&network, "10.0.0.3"), DropCause::NoKey);
    for host in network.hosts.values_mut() {
        host.has_key = true;
    }
    let hop = &actions(&network, "10.0.0.3")[2];
    assert!(hop.ends_with(", encrypted"), "{hop}");
}

#[test]
fn the_state_of_hosts_matters_only_on_the_path() {
    let mut network = network();
    network.hosts.get_mut(&HostId(2)).unwrap().has_credential = false;
    assert_eq!(cause(&network, "10.0.0.3"), DropCause::NoCredential);
    assert_eq!(actions(&network, "10.0.1.4").len(), 4);
    let host = network.hosts.get_mut(&HostId(2)).unwrap();
    host.has_credential = true;
    host.report = reported(2, 61);
    assert!(matches!(
        trace_to(&network, "10.0.0.3").outcome,
        Outcome::Uncertain(_)
    ));
    assert_eq!(actions(&network, "10.0.1.4").len(), 4);
    network.hosts.get_mut(&HostId(1)).unwrap().is_current = false;
    assert!(matches!(
        trace_to(&network, "10.0.1.4").outcome,
        Outcome::Uncertain(_)
    ));
    assert_eq!(cause(&network, "10.0.0.77"), DropCause::UnknownAddress);
    let host = network.hosts.get_mut(&HostId(1)).unwrap();
    host.is_current = true;
    assert_eq!(actions(&network, "10.0.1.4").len(), 4);
}

#[test]
fn a_problem_of_a_host_matters_only_if_it_affects_the_path() {
    let mut network = network();
    let instance = &mut network.interfaces[0];
    let vpc = instance.vpc.as_mut().unwrap();
    vpc.nat_1_1 = Some(0xcb00_7107);
    vpc.ipv6.as_mut().unwrap().is_public = true;
    let uncertain = |network: &TraceNetwork, address: &str| {
        let outcome = trace_to(network, address).outcome;
        match outcome {
            Outcome::Uncertain(text) => Some(text),
            Outcome::Delivered | Outcome::Leaves(_) => None,
            Outcome::Dropped(..) => panic!("{address}: {outcome:?}"),
        }
    };
    // In the same subnet on the other host, in another subnet on the same host, and outside of the VPC.
    let addresses = ["10.0.0.3", "10.0.1.4", "198.51.100.9", "2001:db8::9"];
    let table = [
        (WarningCode::UnderlayAddressMissing, vec![], [1, 0, 0, 0]),
        (WarningCode::NoSession, vec![2], [1, 0, 0, 0]),
        (WarningCode::NoSession, vec![3], [0, 0, 0, 0]),
        (WarningCode::Ipv4ForwardingOff, vec![], [0, 0, 1, 0]),
        (WarningCode::Ipv6ForwardingOff, vec![], [0, 0, 0, 1]),
        (WarningCode::DhcpFailed, vec![1], [0, 1, 0, 0]),
        (WarningCode::DhcpFailed, vec![0], [1, 1, 1, 0]),
        (WarningCode::RemovedPortHookFailed, vec![], [0, 0, 0, 0]),
        (WarningCode::Other, vec![], [1, 1, 1, 1]),
    ];
    for (code, ids, expected) in table {
        let text = "a text".to_owned();
        let warning = HostWarning { code, ids, text };
        network.hosts.get_mut(&HostId(1)).unwrap().warnings = vec![warning.clone()];
        let found = addresses.map(|address| i32::from(uncertain(&network, address).is_some()));
        assert_eq!(found, expected, "{warning:?}");
    }
    // The host of the target.
    network.hosts.get_mut(&HostId(1)).unwrap().warnings.clear();
    let mtu = HostWarning::new(WarningCode::UnderlayMtuSmall, "the MTU is 1400");
    network.hosts.get_mut(&HostId(2)).unwrap().warnings = vec![mtu];
    let text = "rack-2 reports a problem: the MTU is 1400".to_owned();
    let found = addresses.map(|address| uncertain(&network, address));
    assert_eq!(found, [Some(text), None, None, None]);
}
