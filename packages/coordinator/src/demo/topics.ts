/** The demo's prompts and answers. They are fixed, so every start is the same. */

export interface Topic {
  readonly question: string;
  readonly answer: string;
}

export const CHATS: readonly [Topic, ...Topic[]] = [
  {
    question: 'Explain what a context window is, in three sentences.',
    answer:
      'A context window is how much text a model can look at while it writes its next word. ' +
      'It holds the whole conversation so far, with your question, earlier answers and any ' +
      'files, counted in **tokens** of about four characters each. What no longer fits is not ' +
      'seen any more, so long chats are shortened or summed up.',
  },
  {
    question: 'Write a Python function that removes duplicates from a list and keeps the order.',
    answer:
      'A dictionary keeps the order in which its keys were added, so this is short:\n\n' +
      '```python\ndef unique(items):\n    """Return items without repeats, in order."""\n' +
      '    return list(dict.fromkeys(items))\n```\n\n' +
      'It needs items that can be hashed. For lists of dictionaries, compare a key:\n\n' +
      '```python\ndef unique_by(items, key):\n    seen = set()\n    for item in items:\n' +
      '        if (mark := key(item)) not in seen:\n            seen.add(mark)\n' +
      '            yield item\n```\n',
  },
  {
    question: 'What should I check before I lend my GPU to friends?',
    answer:
      'Four things are worth a look:\n\n' +
      '1. **Power.** A card under load takes 250 to 450 W. Set a power limit first.\n' +
      '2. **Heat.** Watch the temperature for the first hour.\n' +
      '3. **Hours.** Share it only at times when you do not need it yourself.\n' +
      '4. **Slots.** Begin with one or two, and add more when the answers stay quick.\n\n' +
      'You can take the card back at any time: running work goes to somebody else.',
  },
  {
    question: 'Compare a few ways to store embeddings on one machine.',
    answer:
      'For up to a million vectors, all of these are fine:\n\n' +
      '| Store | Good for | Watch out for |\n|---|---|---|\n' +
      '| SQLite with sqlite-vec | one file, easy backup | exact search only |\n' +
      '| PostgreSQL with pgvector | data that is there already | memory while indexing |\n' +
      '| FAISS | speed | you keep the texts yourself |\n\n' +
      'I would begin with SQLite and measure before adding anything.',
  },
  {
    question: 'Summarise the minutes of our garden meeting.',
    answer:
      'The group agreed on three points. The beds along the wall get **drip irrigation** before ' +
      'June. The tool shed stays open on weekends, with a list for what is borrowed. Dov asks ' +
      'two neighbours about the old pear tree.\n\nOpen: who pays for the water meter.',
  },
  {
    question: 'Translate "The night train leaves from platform four" into Italian and Japanese.',
    answer:
      '- Italian: *Il treno notturno parte dal binario quattro.*\n' +
      '- Japanese: *夜行列車は四番線から発車します。*',
  },
];

export const PICTURES: readonly [string, ...string[]] = [
  'A lighthouse at dusk, calm sea, wide view',
  'Morning fog between pine hills',
  'A desert at noon with a pale moon',
  'Snowy mountains under a violet evening sky',
  'Terraced fields after rain, soft light',
  'An island seen from a small boat at sunrise',
];

export const SPOKEN: readonly [string, ...string[]] = [
  'The garden gate is open. Please close it when you leave.',
  'Chapter four. The lighthouse keeper had not slept for two days.',
  'Your table is booked for seven. We look forward to seeing you.',
  'Next stop, harbour square. Change here for the night train.',
];

export const HEARD: readonly [string, ...string[]] = [
  'Good morning. Thank you all for coming. Today we talk about the new irrigation for the beds ' +
    'along the wall, and about who looks after the tools. Let us begin with the water.',
  'So the plan is simple. We meet at the station at nine, take the slow train up the valley, and ' +
    'walk down to the lake. Bring something warm, it will be windy.',
];

export const TUNES: readonly [string, ...string[]] = [
  'Slow piano with soft strings, late evening',
  'A light guitar tune for a film about gardens',
];
