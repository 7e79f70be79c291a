import type { Asset } from '../store/port.js';

/** Whose file it is, and what made it. */
export type AssetFacts = Pick<
  Asset,
  'memberId' | 'providerId' | 'requestId' | 'model' | 'endpoint' | 'contentType'
>;
