import { useEffect, useRef, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Button } from '../../../ui/button/button.js';
import { Field, Segments, TextField } from '../../../ui/form/field.js';
import { changeImages, images } from './image-state.js';
import { drawMask, undone, withPoint, withStep, rectangleIn } from './mask.js';
import type { Mask, Point } from './mask.js';
import type { Source } from './mask-file.js';
import './mask-board.css';

const TOOLS = [
  { value: 'paint', label: 'Paint' },
  { value: 'erase', label: 'Erase' },
] as const;

type Tool = (typeof TOOLS)[number]['value'];

/** In percent of the picture's width. */
const BRUSH = { min: 1, max: 40, first: 10 };

/** The picture with a brush: the painted area is to be changed. */
export function MaskBoard({ source }: { readonly source: Source }) {
  const { mask } = useCell(images);
  const [tool, setTool] = useState<Tool>('paint');
  const [percent, setPercent] = useState(BRUSH.first);
  const size = Math.max(1, Math.round((source.width * percent) / 100));
  return (
    <div class="stack">
      <Board source={source} isErasing={tool === 'erase'} size={size} />
      <div class="row spread">
        <Segments label="Tool" value={tool} options={TOOLS} onValue={setTool} />
        <span class="row">
          <Button
            small
            icon="undo-2"
            disabled={mask.length === 0}
            onClick={() => set(undone(mask))}
          >
            Undo
          </Button>
          <Button small icon="trash" disabled={mask.length === 0} onClick={() => set([])}>
            Clear
          </Button>
        </span>
      </div>
      <Field label="Brush size">
        {(ids) => (
          <input
            {...ids}
            type="range"
            min={BRUSH.min}
            max={BRUSH.max}
            value={percent}
            onInput={({ currentTarget }) => setPercent(currentTarget.valueAsNumber)}
          />
        )}
      </Field>
      <RectangleForm size={source} onRectangle={(step) => set(withStep(mask, step))} />
      <p class="small soft">
        {mask.length === 0
          ? 'Nothing is painted: the whole picture may change.'
          : 'What is painted may change; the rest stays.'}
      </p>
    </div>
  );
}

function set(mask: Mask): void {
  changeImages({ mask });
}

interface BoardProps {
  readonly source: Source;
  readonly isErasing: boolean;
  readonly size: number;
}

function Board({ source, isErasing, size }: BoardProps) {
  const { mask } = useCell(images);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height, url } = source;
  useEffect(() => {
    const pen = canvas.current?.getContext('2d') ?? null;
    if (pen === null || canvas.current === null) return;
    // The colour comes from the page's theme, so that it differs in the dark one.
    const { color } = getComputedStyle(canvas.current);
    pen.strokeStyle = color;
    pen.fillStyle = color;
    drawMask(pen, mask, { width, height });
  }, [mask, width, height]);
  const goOn = (event: PointerEvent): void => {
    if (event.buttons !== 1) return;
    const point = pointOf(event, width);
    if (point !== null) changeImages({ mask: withPoint(images.value.mask, point) });
  };
  const begin = (event: PointerEvent): void => {
    const point = event.button === 0 ? pointOf(event, width) : null;
    if (point === null) return;
    canvas.current?.setPointerCapture(event.pointerId);
    const step = { kind: 'stroke', isErasing, size, points: [point] } as const;
    changeImages({ mask: withStep(images.value.mask, step) });
  };
  return (
    <div class="mask-board">
      <img src={url} alt="The picture that is edited" width={width} height={height} />
      <canvas
        ref={canvas}
        width={width}
        height={height}
        onPointerDown={begin}
        onPointerMove={goOn}
      />
    </div>
  );
}

/** Converts to pixels of the picture, which is shown in another size. */
function pointOf({ offsetX, offsetY, target }: PointerEvent, width: number): Point | null {
  if (!(target instanceof HTMLCanvasElement) || target.clientWidth === 0) return null;
  const scale = width / target.clientWidth;
  return { x: offsetX * scale, y: offsetY * scale };
}

interface RectangleFormProps {
  readonly size: { readonly width: number; readonly height: number };
  readonly onRectangle: (step: NonNullable<ReturnType<typeof rectangleIn>>) => void;
}

const FIELDS = [
  { name: 'x', label: 'From the left' },
  { name: 'y', label: 'From the top' },
  { name: 'width', label: 'Width' },
  { name: 'height', label: 'Height' },
] as const;

/** The mask as numbers, for users without a pointing device. */
function RectangleForm({ size, onRectangle }: RectangleFormProps) {
  const [typed, setTyped] = useState({
    x: '0',
    y: '0',
    width: String(Math.round(size.width / 2)),
    height: String(size.height),
  });
  const [x = 0, y = 0, width = 0, height = 0] = FIELDS.map(({ name }) => Number(typed[name]));
  const rectangle = rectangleIn(size, { x, y, width, height });
  return (
    <details class="small">
      <summary>Paint a rectangle by numbers</summary>
      <div class="stack">
        <div class="play-numbers">
          {FIELDS.map(({ name, label }) => (
            <TextField
              key={name}
              label={`${label}, pixels`}
              type="number"
              inputMode="numeric"
              min={0}
              value={typed[name]}
              onValue={(value) => setTyped({ ...typed, [name]: value })}
            />
          ))}
        </div>
        <div>
          <Button
            small
            icon="plus"
            disabled={rectangle === null}
            onClick={() => rectangle !== null && onRectangle(rectangle)}
          >
            Paint it
          </Button>
        </div>
      </div>
    </details>
  );
}
