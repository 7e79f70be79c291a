/** Run by `system-information.ts` as a process of its own: reports the graphics cards and ends. */
import { graphics } from 'systeminformation';
import type { GraphicsCard } from './system-information.js';

const { controllers } = await graphics();
const cards: GraphicsCard[] = controllers.map(({ vendor, model, vram, vramDynamic }) => ({
  vendor,
  model,
  vram,
  vramDynamic,
}));
process.send?.(cards);
