/** The mask of a picture: a list of strokes and rectangles, so that each can be undone. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Stroke {
  readonly kind: 'stroke';
  readonly isErasing: boolean;
  /** Diameter of the brush, in pixels of the picture. */
  readonly size: number;
  readonly points: readonly Point[];
}

/** A rectangle that was entered as numbers. */
interface Rectangle extends Point {
  readonly kind: 'rectangle';
  readonly width: number;
  readonly height: number;
}

type MaskStep = Stroke | Rectangle;

export type Mask = readonly MaskStep[];

/** If there are more, the oldest are dropped. */
const MAX_STEPS = 500;
const MAX_POINTS = 5_000;

export function withStep(mask: Mask, step: MaskStep): Mask {
  return [...mask, step].slice(-MAX_STEPS);
}

/** Extends the last stroke to this point. */
export function withPoint(mask: Mask, point: Point): Mask {
  const last = mask.at(-1);
  if (last?.kind !== 'stroke' || last.points.length >= MAX_POINTS) return mask;
  return [...mask.slice(0, -1), { ...last, points: [...last.points, point] }];
}

export function undone(mask: Mask): Mask {
  return mask.slice(0, -1);
}

/** Whether anything was painted, apart from erasing. */
export function isPainted(mask: Mask): boolean {
  return mask.some((step) => step.kind === 'rectangle' || !step.isErasing);
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The part inside the picture, in whole pixels; null if there is none. */
export function rectangleIn(size: Size, wanted: Point & Size): Rectangle | null {
  const numbers = [wanted.x, wanted.y, wanted.width, wanted.height];
  if (!numbers.every(Number.isFinite)) return null;
  const x = clamp(wanted.x, size.width);
  const y = clamp(wanted.y, size.height);
  const width = clamp(wanted.x + wanted.width, size.width) - x;
  const height = clamp(wanted.y + wanted.height, size.height) - y;
  return width <= 0 || height <= 0 ? null : { kind: 'rectangle', x, y, width, height };
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(Math.round(value), 0), most);
}

/** The part of a canvas context that drawing needs. */
type Pen = Pick<
  CanvasRenderingContext2D,
  'beginPath' | 'clearRect' | 'fillRect' | 'lineTo' | 'moveTo' | 'stroke'
> & {
  fillStyle: unknown;
  globalCompositeOperation: string;
  lineCap: string;
  lineJoin: string;
  lineWidth: number;
  strokeStyle: unknown;
};

/** Clears the canvas and draws the mask in the pen's colour. */
export function drawMask(pen: Pen, mask: Mask, { width, height }: Size): void {
  pen.globalCompositeOperation = 'source-over';
  pen.clearRect(0, 0, width, height);
  for (const step of mask) drawStep(pen, step);
  pen.globalCompositeOperation = 'source-over';
}

const DOT = 0.01;

function drawStep(pen: Pen, step: MaskStep): void {
  if (step.kind === 'rectangle') {
    pen.globalCompositeOperation = 'source-over';
    pen.fillRect(step.x, step.y, step.width, step.height);
    return;
  }
  pen.globalCompositeOperation = step.isErasing ? 'destination-out' : 'source-over';
  pen.lineWidth = step.size;
  pen.lineCap = 'round';
  pen.lineJoin = 'round';
  pen.beginPath();
  const [first, ...rest] = step.points;
  if (first === undefined) return;
  pen.moveTo(first.x, first.y);
  // A stroke of one point makes a dot; a line without length would draw nothing.
  if (rest.length === 0) pen.lineTo(first.x + DOT, first.y);
  for (const { x, y } of rest) pen.lineTo(x, y);
  pen.stroke();
}
