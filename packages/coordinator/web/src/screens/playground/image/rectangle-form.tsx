import { useState } from 'preact/hooks';
import { Button } from '../../../ui/button/button.js';
import { TextField } from '../../../ui/form/field.js';
import { rectangleIn } from './mask.js';

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

/** The mask by numbers, for whoever has no pointer. */
export function RectangleForm({ size, onRectangle }: RectangleFormProps) {
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
