import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import './lightbox.css';

/** A picture that opens in the lightbox. */
export interface Shot {
  /** A path on this origin, or a `data:` or `blob:` URL. */
  readonly src: string;
  readonly alt: string;
  /** Empty: as the server names it. */
  readonly fileName: string;
}

/** Small pictures; each opens large, with the others before and after it. */
export function Pictures({ shots }: { readonly shots: readonly Shot[] }) {
  const [open, setOpen] = useState<number | null>(null);
  return (
    <>
      {shots.map((shot, index) => (
        <ShotButton key={`${index} ${shot.alt}`} shot={shot} onOpen={() => setOpen(index)} />
      ))}
      {open !== null && <Lightbox shots={shots} first={open} onClose={() => setOpen(null)} />}
    </>
  );
}

interface ShotButtonProps {
  readonly shot: Shot;
  readonly onOpen: () => void;
}

export function ShotButton({ shot, onOpen }: ShotButtonProps) {
  return (
    <button type="button" class="shot" title="Enlarge" onClick={onOpen}>
      <img src={shot.src} alt={shot.alt} />
    </button>
  );
}

interface LightboxProps {
  readonly shots: readonly Shot[];
  /** The index of the one that is shown first. */
  readonly first: number;
  readonly onClose: () => void;
}

export function Lightbox({ shots, first, onClose }: LightboxProps) {
  const [index, setIndex] = useState(first);
  const shot = shots[index];
  if (shot === undefined) return null;
  const go = (by: number): void =>
    setIndex((at) => Math.min(Math.max(at + by, 0), shots.length - 1));
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
  return (
    <Dialog title={`Picture ${index + 1} of ${shots.length}`} shape="wide" onClose={onClose}>
      <div class="lightbox" onKeyDown={({ key }) => go(steps[key] ?? 0)}>
        <figure>
          <img src={shot.src} alt={shot.alt} />
          <figcaption class="small soft">{shot.alt}</figcaption>
        </figure>
        <div class="dialog-foot">
          {shots.length > 1 && (
            <>
              <Button icon="arrow-left" aria-disabled={index === 0} onClick={() => go(-1)}>
                Previous
              </Button>
              <Button
                icon="arrow-right"
                aria-disabled={index === shots.length - 1}
                onClick={() => go(1)}
              >
                Next
              </Button>
            </>
          )}
          <LinkButton icon="download" href={shot.src} download={shot.fileName}>
            Download
          </LinkButton>
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}
