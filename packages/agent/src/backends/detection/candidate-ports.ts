/** The ports of this machine behind which a model server may be. */
import { isLoopback } from '@inference-gateway/shared/loopback';

/** Where model servers listen unless told otherwise, the commonest first. */
export const USUAL_PORTS: readonly number[] = [
  11434, 1234, 8080, 8000, 7860, 7861, 8880, 5001, 5000, 8188, 1337, 4891, 13305, 12434, 10240,
  30000, 5005, 4123, 9000, 8001, 8081, 23333, 9090, 7801, 4000,
];

/** More programs than anybody runs; each costs a few requests. */
const MAX_PORTS = 256;

/** Those of the base URLs on this machine first, which their owner knows of. */
export function candidatePorts(
  baseUrls: readonly string[],
  others: readonly number[],
): readonly number[] {
  const configured = baseUrls.flatMap((url) => loopbackPort(url) ?? []);
  const ports = new Set([...configured, ...USUAL_PORTS, ...others]);
  return [...ports].slice(0, MAX_PORTS);
}

/** Null where the URL leads to another machine, which a scan never asks. */
function loopbackPort(text: string): number | null {
  const { hostname, port, protocol } = new URL(text);
  if (!isLoopback(hostname) || protocol !== 'http:') return null;
  return port === '' ? 80 : Number(port);
}
