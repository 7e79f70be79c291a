/**
 * A kind of local server: what its folder exports as `KIND`. `local-servers.ts` makes the tables of
 * all kinds from it.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AudioConverter } from '../media/audio-converter.js';
import type { Backend, ServiceConfig } from './backend.js';
import type { Ask, ServedType } from './detection/signs.js';

export interface ServerKind {
  /** As the configuration names it; its folder has the same name. */
  readonly name: string;
  /** Of one that serves one kind of work, whatever it is configured for. */
  readonly soleType?: ServiceType;
  readonly create: CreateBackend;
  readonly fingerprint: Sign;
  /** Its programs, as the system names them; `*` is what a version or a build adds. */
  readonly programs: {
    /** One program, and not a script of a language whose interpreter others use, too. */
    readonly servers?: readonly string[];
    /** What it starts to compute, which nobody talks to but it. */
    readonly workers?: readonly string[];
    /** A word of the command line of a server in Python, or the folder that it runs in. */
    readonly scripts?: readonly string[];
  };
}

export type CreateBackend = (service: ServiceConfig, tools: BackendTools) => Backend;

/** What a backend may use beside its local server. */
export interface BackendTools {
  /** Null where it is not installed: sounds are then converted by what is built in. */
  readonly ffmpeg: AudioConverter | null;
  /** A scan changes nothing on the server, not even by a question: it asks with GET alone. */
  readonly getOnly?: boolean;
}

/** How a server gives itself away. */
export interface Sign {
  /** The program's name. */
  readonly server: string;
  /** What it serves where it does not tell. */
  readonly type: ServiceType;
  /** What the base URL has behind the origin. */
  readonly path: string;
  readonly matches: (ask: Ask) => Promise<boolean>;
  /** Absent: one type. None at all: nothing is loaded. */
  readonly served?: (ask: Ask) => Promise<readonly ServedType[]>;
  /** Absent: it does where its list of models is refused. */
  readonly wantsKey?: (ask: Ask) => Promise<boolean>;
  /** Its types wait for each other, on one card. */
  readonly takesTurns?: true;
  /** What its owner should know of it in any case. */
  readonly note?: string;
}
