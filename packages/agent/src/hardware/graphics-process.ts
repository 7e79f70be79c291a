/**
 * Started by `system-information.ts` as a separate process: reports the graphics cards and exits.
 */
import { graphics } from 'systeminformation';
import type { GraphicsCard } from './system-information.js';

void reportGraphics();

async function reportGraphics(): Promise<void> {
  const { controllers } = await graphics();
  const cards: GraphicsCard[] = controllers.map(({ vendor, model, vram, vramDynamic }) => ({
    vendor,
    model,
    vram,
    vramDynamic,
  }));
  process.send?.(cards);
}
