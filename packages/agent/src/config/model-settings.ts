/** What the owner lets the coordinator do with the models of local servers. */
import type { FileConfig } from './schema.js';

export interface ModelSettings {
  /** False: the coordinator learns and changes nothing. */
  readonly manage: boolean;
  /** True: also models that were not pulled this way. */
  readonly deleteAll: boolean;
  /** For all models that were pulled this way. */
  readonly maxBytes: number;
  /** That stay free on the disk. */
  readonly minFreeBytes: number;
  /** True: also by servers that cannot stop a transfer, so that no limit holds for it. */
  readonly unstoppablePulls: boolean;
}

const GIB = 1024 ** 3;

const DEFAULTS: ModelSettings = {
  manage: false,
  deleteAll: false,
  maxBytes: 100 * GIB,
  minFreeBytes: 20 * GIB,
  unstoppablePulls: false,
};

/** As the configuration file names them. */
export type WrittenModels = Pick<
  FileConfig,
  'manage_models' | 'delete_models' | 'models_max_gb' | 'models_min_free_gb' | 'unstoppable_pulls'
>;

/** The environment's instead of the file's. */
export function modelSettings(file: WrittenModels, environment: WrittenModels = {}): ModelSettings {
  const written = { ...file, ...environment };
  const { models_max_gb: maxGb, models_min_free_gb: minFreeGb } = written;
  return {
    manage: written.manage_models ?? DEFAULTS.manage,
    deleteAll: written.delete_models ?? DEFAULTS.deleteAll,
    maxBytes: maxGb === undefined ? DEFAULTS.maxBytes : Math.round(maxGb * GIB),
    minFreeBytes: minFreeGb === undefined ? DEFAULTS.minFreeBytes : Math.round(minFreeGb * GIB),
    unstoppablePulls: written.unstoppable_pulls ?? DEFAULTS.unstoppablePulls,
  };
}
