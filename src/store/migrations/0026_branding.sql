-- Since Garth 0.2.0.
-- The brand of the provider (decision 0038). The table has at most one row, with the ID 1. Images are in Base64.

CREATE TABLE branding (
    id BIGINT NOT NULL PRIMARY KEY,
    name {text},
    accent_color {text},
    footer {text},
    support_links {text} NOT NULL,
    logo_format {text},
    logo_hash {text},
    favicon_format {text},
    favicon_hash {text},
    updated BIGINT NOT NULL,
    logo {text},
    favicon {text}
);
