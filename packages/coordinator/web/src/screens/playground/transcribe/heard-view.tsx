import { useRef, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { CopyButton } from '../../../ui/button/copy.js';
import { Empty } from '../../../ui/table/states.js';
import { RunFactsRow } from '../run-facts-row.js';
import { clock, pieceAt } from './transcript.js';
import type { Piece } from './transcript.js';
import { transcription } from './transcribe-state.js';
import './heard-view.css';

/** The sound, and its transcript. */
export function HeardView() {
  const { sound, heard, run } = useCell(transcription);
  const player = useRef<HTMLAudioElement>(null);
  const [seconds, setSeconds] = useState(0);
  if (sound === null) {
    const text = 'Choose a file or record one: its text appears here.';
    return <Empty icon="mic" title="No transcript yet." text={text} />;
  }
  const jump = ({ start }: Piece): void => {
    if (player.current === null) return;
    player.current.currentTime = start;
    // If the browser does not allow playing, the player is still at the right position.
    player.current.play().catch(() => undefined);
  };
  return (
    <section class="card stack" aria-label="Transcript" aria-busy={run.running !== null}>
      <audio
        ref={player}
        controls
        src={sound.url}
        aria-label={sound.file.name}
        onTimeUpdate={({ currentTarget }) => setSeconds(currentTarget.currentTime)}
      />
      {run.running !== null && <p class="skeleton row" role="status" aria-label="Under way" />}
      {heard !== null && (
        <>
          {heard.transcript.pieces.length > 0 ? (
            <Pieces pieces={heard.transcript.pieces} seconds={seconds} onPiece={jump} />
          ) : (
            <p class="plain-text">{heard.transcript.text || 'Nothing was heard.'}</p>
          )}
          <p class="row small soft">
            <CopyButton text={heard.transcript.text} label="Copy the text" />
            {heard.transcript.language !== null && (
              <span>Language: {heard.transcript.language}</span>
            )}
            {heard.transcript.seconds !== null && (
              <span>Length: {clock(heard.transcript.seconds)}</span>
            )}
          </p>
          <RunFactsRow facts={heard.facts} />
        </>
      )}
    </section>
  );
}

interface PiecesProps {
  readonly pieces: readonly Piece[];
  readonly seconds: number;
  readonly onPiece: (piece: Piece) => void;
}

/**
 * Above this number, words are joined: a button for each word of two hours would make the page
 * slow.
 */
const MAX_BUTTONS = 1_000;

function Pieces({ pieces, seconds, onPiece }: PiecesProps) {
  const shown = pieces.length > MAX_BUTTONS ? joined(pieces) : pieces;
  const current = pieceAt(shown, seconds);
  return (
    <p class="words" aria-label="Words">
      {shown.map((piece, index) => (
        <button
          key={index}
          type="button"
          title={clock(piece.start)}
          {...(index === current && { 'aria-current': 'true' as const })}
          onClick={() => onPiece(piece)}
        >
          {piece.text}
        </button>
      ))}
    </p>
  );
}

function joined(pieces: readonly Piece[]): readonly Piece[] {
  const size = Math.ceil(pieces.length / MAX_BUTTONS);
  return Array.from({ length: Math.ceil(pieces.length / size) }, (_, index) => {
    const part = pieces.slice(index * size, (index + 1) * size);
    const text = part.map((piece) => piece.text).join(' ');
    return { text, start: part[0]?.start ?? 0, end: part.at(-1)?.end ?? 0 };
  });
}
