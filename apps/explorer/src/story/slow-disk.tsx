import { counted } from '@bloom/report';
import { KEY_SAMPLES } from '../filter/key-samples.js';
import { DiskIcon, READ_MS } from './disk-path.js';
import { Guess, useGuess } from './guess.js';
import { Figure, useLit } from './highlight.js';
import { Step } from './step.js';

const ON_DISK: readonly string[] = KEY_SAMPLES.fruit.keys();
const ASKED = ['pear', 'banana', 'melon', 'peach', 'quince', 'guava', 'plum', 'date', 'olive', 'lime'] as const;
const absent = ASKED.filter((word) => !ON_DISK.includes(word));

export function SlowDisk() {
  const wasted = absent.length * READ_MS;
  return (
    <Step number={1} title="Looking for what is not there is slow" picture={<Reads />}>
      <p>
        <Figure lights={['stored']}>{counted(ON_DISK.length, 'word')}</Figure> are stored on a disk. A program asks for <Figure lights={['asked']}>{counted(ASKED.length, 'word')}</Figure>, one after another. Two of them are there.
      </p>
      <p>A hard disk takes about {READ_MS} milliseconds to fetch anything: the head has to move, and the disk has to turn.</p>
      <Guess step={1} question="How many times does the program read the disk?" options={['2 times', '8 times', '10 times']} right={2}>
        It cannot know that a word is missing until it has looked. <Figure lights={['vain']}>{counted(absent.length, 'read')}</Figure> found nothing: {wasted} of {ASKED.length * READ_MS} ms were wasted. Can it know <em>before</em> it reads?
      </Guess>
    </Step>
  );
}

function Reads() {
  const lit = useLit();
  const isShown = useGuess(1) !== undefined;
  return (
    <>
      <div class={`disk ${lit.has('stored') ? 'is-lit' : ''}`}>
        <DiskIcon />
        <p>
          <strong>On the disk</strong> {ON_DISK.join(', ')}
        </p>
      </div>
      <ol class={`fetches ${lit.has('asked') ? 'is-lit' : ''}`} aria-label="Words that the program asks for">
        {ASKED.map((word) => {
          const isThere = ON_DISK.includes(word);
          return (
            <li key={word} class={`fetch ${!isShown ? 'is-waiting' : isThere ? 'is-found' : 'is-vain'} ${!isThere && lit.has('vain') ? 'is-lit' : ''}`}>
              <span class="fetch-word">{word}?</span>
              <span class="fetch-bar">{isShown ? `${READ_MS} ms` : '?'}</span>
              <span class="fetch-result">{!isShown ? '' : isThere ? 'found' : 'nothing there'}</span>
            </li>
          );
        })}
      </ol>
      <p class="fetches-sum">
        {isShown ? (
          <>
            <strong>{ASKED.length * READ_MS} ms</strong> in all, <strong class="word-false">{absent.length * READ_MS} ms wasted</strong>
          </>
        ) : (
          'How many of these will be reads?'
        )}
      </p>
    </>
  );
}
