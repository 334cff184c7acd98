//! Without the additional keys, VPCs without IPv6 look as before dual-stack VPCs, to the byte.

use serde_json::json;

use crate::harness::TestApp;

/// The responses of Garth before it had `vpc_type` and IPv6, recorded with another time.
const RECORDED: [(&str, &str); 4] = [
    (
        "/vpcs/1",
        r#"{"id":1,"label":"core","description":"","region":"us-east","subnets":[{"id":1,"label":"web","ipv4":"10.0.0.0/24","linodes":[{"id":1,"interfaces":[{"id":1,"active":false,"config_id":1}]}],"computes":[{"id":1,"interfaces":[{"id":1,"active":false,"config_id":1}]}],"databases":[],"nodebalancers":[],"created":"2024-06-01T12:00:00","updated":"2024-06-01T12:00:00"}],"created":"2024-06-01T12:00:00","updated":"2024-06-01T12:00:00"}"#,
    ),
    (
        "/vpcs/1/subnets",
        r#"{"data":[{"id":1,"label":"web","ipv4":"10.0.0.0/24","linodes":[{"id":1,"interfaces":[{"id":1,"active":false,"config_id":1}]}],"computes":[{"id":1,"interfaces":[{"id":1,"active":false,"config_id":1}]}],"databases":[],"nodebalancers":[],"created":"2024-06-01T12:00:00","updated":"2024-06-01T12:00:00"}],"page":1,"pages":1,"results":1}"#,
    ),
    (
        "/vpcs/1/ips",
        r#"{"data":[{"address":"10.0.0.2","address_range":null,"vpc_id":1,"subnet_id":1,"region":"us-east","linode_id":1,"compute_id":1,"config_id":1,"interface_id":1,"active":false,"nat_1_1":"","gateway":"10.0.0.1","prefix":24,"subnet_mask":"255.255.255.0"},{"address":null,"address_range":"10.0.0.64/28","vpc_id":1,"subnet_id":1,"region":"us-east","linode_id":1,"compute_id":1,"config_id":1,"interface_id":1,"active":false,"nat_1_1":"","gateway":"10.0.0.1","prefix":24,"subnet_mask":"255.255.255.0"}],"page":1,"pages":1,"results":2}"#,
    ),
    (
        "/linode/instances/1/configs/1/interfaces",
        r#"[{"id":1,"purpose":"vpc","primary":false,"active":false,"ipam_address":null,"label":null,"vpc_id":1,"subnet_id":1,"ipv4":{"vpc":"10.0.0.2","nat_1_1":null},"ip_ranges":["10.0.0.64/28"]}]"#,
    ),
];

#[tokio::test]
async fn without_extras_responses_equal_the_recorded_bytes() {
    let app = TestApp::with(|policy, _| policy.wire_extras = false).await;
    let ada = app.user("ada").await;
    let subnets = json!([{"label": "web", "ipv4": "10.0.0.0/24"}]);
    let body = json!({"label": "core", "region": "us-east", "subnets": subnets});
    let created = ada.post("/vpcs", body).await;
    assert_eq!(created.status, 200, "{created}");
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ip_ranges": ["10.0.0.64/28"]}]);
    let body = json!({"label": "one", "region": "us-east", "type": "g6-nanode-1", "interfaces": interfaces});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    for (path, expected) in RECORDED {
        let body = ada.get(path).await.body;
        assert_eq!(std::str::from_utf8(&body).unwrap(), expected, "{path}");
    }
    // A VPC with IPv6 always has its range.
    let dual = json!({"label": "dual", "region": "us-east", "ipv6": [{"range": "/52"}]});
    let dual = ada.post("/vpcs", dual).await.json();
    assert_eq!(dual["ipv6"], json!([{"range": "fd67:6172::/52"}]));
    assert_eq!((dual.get("ipv4"), dual.get("vpc_type")), (None, None));
}
