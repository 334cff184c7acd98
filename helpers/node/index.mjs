// Tests of clients of the Linode API v4 against Garth.

export { GarthError } from './connection.mjs';
export { startGarth } from './process.mjs';
export { connectGarth } from './server.mjs';
