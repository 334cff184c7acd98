-- A store as schema 1 leaves it. Migrations and their checksums:
-- 0001 896b1647e179d14ada38625169ce75840a6635e5a3961b2795771ff7e7453202

INSERT INTO account (id, company, email, created, vpcs_per_region, subnets_per_vpc) VALUES
    (1, '', 'admin@localhost', 1717156800000000, NULL, NULL),
    (2, '', 'eve@example.com', 1717156800000000, 7, NULL);

INSERT INTO app_user (id, account, username, email, restricted, account_access, password, created, events_seen) VALUES
    (1, 1, 'admin', 'admin@localhost', 0, NULL, '$argon2id$v=19$m=19456,t=2,p=1$c2FtcGxlc2FtcGxl$c2FtcGxl', 1717156800000000, 1),
    (2, 2, 'eve', 'eve@example.com', 0, NULL, NULL, 1717156800000000, 0),
    (3, NULL, 'grace', 'grace@example.com', 0, NULL, NULL, 1717156800000000, 0),
    (4, 1, 'bob', 'bob@example.com', 1, 'read_only', NULL, 1717156801000000, 0);

INSERT INTO global_grant (app_user, name) VALUES
    (4, 'add_vpcs');

INSERT INTO entity_grant (app_user, kind, entity, permission) VALUES
    (4, 'vpc', 1, 'read_only');

UPDATE identity_version SET version = 7;

INSERT INTO vpc (id, account, label, description, region, created, updated) VALUES
    (1, 1, 'core', 'é 漢 ''quoted'' "twice"', 'us-east', 1717156801000000, 1717156801000000),
    (300, 1, 'edge', '', 'us-mia', 1717156801000000, 1717156801000000),
    (70000, 1, 'far', '', 'us-east', 1717156801000000, 1717156801000000),
    (70001, 2, 'core', '', 'us-east', 1717156801000000, 1717156801000000);

INSERT INTO subnet (id, vpc, label, ipv4, first_address, last_address, created, updated) VALUES
    (1, 1, 'front', '10.0.0.0/24', 167772160, 167772415, 1717156801000000, 1717156801000000),
    (2, 1, 'back', '10.0.1.0/28', 167772416, 167772431, 1717156801000000, 1717156801000000),
    (3, 300, 'only', '192.168.0.0/29', 3232235520, 3232235527, 1717156801000000, 1717156801000000),
    (4, 70001, 's', '10.0.0.0/8', 167772160, 184549375, 1717156801000000, 1717156801000000);

INSERT INTO event (id, account, created, action, username, entity_kind, entity_id, entity_label, entity_url, secondary_kind, secondary_id, secondary_label, secondary_url, guard_kind, guard_id, status) VALUES
    (1, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 1, 'core', '/v4/vpcs/1', NULL, NULL, NULL, NULL, 'vpc', 1, 'notification'),
    (2, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 1, 'front', '/v4/vpcs/1/subnets/1', 'vpc', 1, 'core', '/v4/vpcs/1', 'vpc', 1, 'notification'),
    (3, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 2, 'back', '/v4/vpcs/1/subnets/2', 'vpc', 1, 'core', '/v4/vpcs/1', 'vpc', 1, 'notification'),
    (4, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 300, 'edge', '/v4/vpcs/300', NULL, NULL, NULL, NULL, 'vpc', 300, 'notification'),
    (5, 1, 1717156801000000, 'subnet_create', 'admin', 'subnet', 3, 'only', '/v4/vpcs/300/subnets/3', 'vpc', 300, 'edge', '/v4/vpcs/300', 'vpc', 300, 'notification'),
    (300, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 70000, 'far', '/v4/vpcs/70000', NULL, NULL, NULL, NULL, 'vpc', 70000, 'notification'),
    (301, 2, 1717156801000000, 'vpc_create', 'eve', 'vpc', 70001, 'core', '/v4/vpcs/70001', NULL, NULL, NULL, NULL, 'vpc', 70001, 'notification'),
    (302, 2, 1717156801000000, 'subnet_create', 'eve', 'subnet', 4, 's', '/v4/vpcs/70001/subnets/4', 'vpc', 70001, 'core', '/v4/vpcs/70001', 'vpc', 70001, 'notification'),
    (303, 1, 1717156801000000, 'vpc_create', 'admin', 'vpc', 70002, 'gone', '/v4/vpcs/70002', NULL, NULL, NULL, NULL, 'vpc', 70002, 'notification'),
    (304, 1, 1717156801000000, 'vpc_delete', 'admin', 'vpc', 70002, 'gone', '/v4/vpcs/70002', NULL, NULL, NULL, NULL, 'vpc', 70002, 'notification'),
    (307, 1, 1717156801000000, 'user_create', 'admin', 'user', 4, 'bob', '/v4/account/users/bob', NULL, NULL, NULL, NULL, 'account', 0, 'notification'),
    (308, 1, 1717156801000000, 'user_update', 'admin', 'user', 4, 'bob', '/v4/account/users/bob', NULL, NULL, NULL, NULL, 'account', 0, 'notification');

INSERT INTO event_read (app_user, event) VALUES
    (1, 2);

INSERT INTO token (id, app_user, kind, label, hash, prefix, scopes, created, expiry, revoked) VALUES
    (1, 1, 'personal', 'first start', '3490f80401886d12f3861ec190f5c16419b26345497a92bc4530e22f5d8b4295', 'a1a1a1a1a1a1a1a1', '*', 1717156800000000, NULL, NULL),
    (2, 2, 'personal', '', '3a26c6423169cb5c557326d438460fdccd2b0e1375298a00e3b525d1e39b45b1', 'e2e2e2e2e2e2e2e2', '*', 1717156800000000, NULL, NULL),
    (3, 3, 'personal', '', 'd896f9e9f235ba43879cc6df6771e422dca97acbd2677d6200ca4e21c7ac5049', 'd3d3d3d3d3d3d3d3', '*', 1717156801000000, NULL, NULL),
    (4, 4, 'personal', '', '9c0c2c2e151b7fea44507442da60b93baff94552b94ee7aecadf16dc5b963b30', 'b4b4b4b4b4b4b4b4', '*', 1717156801000000, NULL, NULL);
