/** Options shared by several commands. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { becomeOwnerOf } from '@inference-gateway/shared/program/owner';
import { InvalidArgumentError, Option } from 'commander';
import { locateConfig } from '../config/config.js';
import type { ConfigLocation } from '../config/file.js';

export interface ConfigOption {
  readonly config?: string;
}

export interface JsonOption {
  readonly json?: boolean;
}

export function configOption(): Option {
  return new Option('--config <file>', 'the configuration (GATEWAY_AGENT_CONFIG)');
}

/**
 * The location of the configuration, for a command that works with it. Root becomes the file's
 * owner, who runs the agent: files that the command writes there belong to the owner.
 */
export function enterConfig(flag: string | undefined): ConfigLocation {
  const location = locateConfig(flag);
  becomeOwnerOf(location.file);
  return location;
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON, documented in docs/cli.md');
}

export function statusPortOption(): Option {
  const says = 'answer /readyz and /metrics on this port of 127.0.0.1; default: no port';
  return new Option('--status-port <port>', says).argParser(countTo(MAX_PORT));
}

export const MAX_PORT = 65_535;

/** Reads a whole number from 1. Throws commander's usage error. */
export function countTo(most: number): (written: string) => number {
  return (written) => {
    const count = /^[1-9]\d*$/.test(written) ? Number(written) : Number.NaN;
    if (count <= most) return count;
    throw new InvalidArgumentError(`Write a whole number from 1 to ${most}.`);
  };
}

/** The argument of `addHelpText('after', …)`. */
export function example(line: string): string {
  return `\nExample:\n  gateway-agent ${line}`;
}

// Parses durations (`2h`) and times of day (`22:00`).

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A longer duration is taken for a mistake. */
const MAX_MS = 365 * UNIT_MS.d;

/** In milliseconds. Throws commander's usage error. */
export function parseDuration(written: string): number {
  const match = /^([1-9]\d{0,6})([smhd])$/.exec(written);
  const ms = Number(match?.[1]) * UNIT_MS[(match?.[2] ?? 's') as keyof typeof UNIT_MS];
  if (ms <= MAX_MS) return ms;
  throw new InvalidArgumentError('Write 90s, 30m, 2h or 7d; at most 365d.');
}

/** The next such time on this machine's clock, in Unix ms. */
export function parseTimeOfDay(written: string): number {
  const match = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(written);
  if (match === null) throw new InvalidArgumentError('Write a time of day, like 22:00.');
  const now = SYSTEM_CLOCK.now();
  const at = new Date(now);
  at.setHours(Number(match[1]), Number(match[2]), 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return at.getTime();
}
