/** The program with a timeout of 1 s instead of a minute for a running coordinator. */
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

const { request } = http;
http.request = (options, done) => request(Object.assign(options, { timeout: 1_000 }), done);
syncBuiltinESMExports();
await import('../../../packages/coordinator/bin/gateway-coordinator.js');
