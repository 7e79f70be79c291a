/** Options that several commands have. */
import { becomeOwnerOf } from '@inference-gateway/shared/program/owner';
import { InvalidArgumentError, Option } from 'commander';
import { locateConfig } from '../config.js';
import type { ConfigLocation } from '../config-location.js';

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
 * Where the configuration is, for a command that works with it. Root becomes its owner, who runs
 * the agent: what the command leaves beside it is theirs.
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
  const says = 'answer /readyz and /metrics on this port of 127.0.0.1; default: on none';
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

/** What `addHelpText('after', …)` takes. */
export function example(line: string): string {
  return `\nExample:\n  gateway-agent ${line}`;
}
