/** Pictures that go with the message which is being written. */
import { useRef } from 'preact/hooks';
import { Button } from '../../../ui/button/button.js';
import { IconButton } from '../../../ui/button/icon-button.js';
import { toast, toastFault } from '../../../ui/dialog/toasts.js';
import { changeChat, chat } from './chat-state.js';
import type { Picture } from './conversation.js';
import { MAX_PICTURES, PICTURE_TYPES, readPictures } from './pictures.js';

export function Thumbs({ pictures }: { readonly pictures: readonly Picture[] }) {
  if (pictures.length === 0) return null;
  return (
    <ul class="thumbs" aria-label="Pictures">
      {pictures.map(({ name, url }, index) => (
        <li key={`${index} ${name}`}>
          <img src={url} alt={name} />
          <IconButton icon="x" label={`Take ${name} away`} onClick={() => removePicture(index)} />
        </li>
      ))}
    </ul>
  );
}

interface AddPicturesProps {
  readonly seesPictures: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

export function AddPictures({ seesPictures, onFiles }: AddPicturesProps) {
  const input = useRef<HTMLInputElement>(null);
  if (!seesPictures) return <span class="small soft">This model reads text only.</span>;
  return (
    <>
      <Button small icon="paperclip" onClick={() => input.current?.click()}>
        Add pictures
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={PICTURE_TYPES.join(',')}
        aria-label="Pictures"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </>
  );
}

export async function addPictures(files: readonly File[], seesPictures: boolean): Promise<void> {
  if (files.length === 0) return;
  if (!seesPictures) {
    toast('This model reads text only. Choose one that reads pictures.', 'bad');
    return;
  }
  try {
    const room = MAX_PICTURES - chat.value.draft.pictures.length;
    const added = await readPictures(files, room);
    const { draft } = chat.value;
    const pictures = [...draft.pictures, ...added].slice(0, MAX_PICTURES);
    changeChat({ draft: { ...draft, pictures } });
  } catch (thrown) {
    toastFault(thrown);
  }
}

function removePicture(index: number): void {
  const { draft } = chat.value;
  changeChat({ draft: { ...draft, pictures: draft.pictures.toSpliced(index, 1) } });
}
