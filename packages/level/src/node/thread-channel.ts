/**
 * How the threads of a process that use one folder find each other. One of them has the database open: the one that holds the lock of the
 * folder. The others send their requests to it. When its thread ends for any reason, the system releases the lock, and one of the others takes
 * the lock and opens the database.
 *
 *     channel `@bloom/level DEVICE:INODE`      of the folder: { hello: CLIENT } of those who look for the thread that has it open,
 *                                              { isOpen } of that thread once, { isOpening } of one that is opening it
 *     channel `@bloom/level client CLIENT`     of one user and that thread: { owner: TOKEN, flag, thread }, then requests and answers
 *
 * Node's BroadcastChannels connect the threads of one process only.
 */
import { BroadcastChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { Answer, Request } from '../worker/level-messages.js';

export type FolderMessage = { readonly hello: string } | { readonly isOpening: true } | { readonly isOpen: true };

/** The token identifies one user's session. A user that gets another token sends its unanswered requests again. */
export type ClientMessage =
  | { readonly owner: string; readonly flag: SharedArrayBuffer; readonly thread: number }
  | { readonly to: string; readonly requests: readonly Request[] }
  | { readonly from: string; readonly answers: Answer[] }
  | { readonly ping: string }
  | { readonly pong: string }
  | { readonly bye: string };

/** The interval in which the thread that has the database open pings its users, in milliseconds. */
export const PING_MS = 5000;

/** Node accepts channels too, which its types do not say. */
const receive = receiveMessageOnPort as unknown as (channel: BroadcastChannel) => { readonly message: unknown } | undefined;

export class ThreadChannel<Message> {
  /** Undefined once it is closed. */
  #channel: BroadcastChannel | undefined;
  readonly #hear: (message: Message) => void;

  /** Does not keep the thread alive. @param hear receives the others' messages. */
  constructor(name: string, hear: (message: Message) => void) {
    this.#hear = hear;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = (event) => hear((event as { readonly data: Message }).data);
    (this.#channel as unknown as { unref?(): void }).unref?.();
  }

  /** Does nothing once the channel is closed. */
  post(message: Message): void {
    this.#channel?.postMessage(message);
  }

  /** Receives the messages that have arrived, without a turn of the event loop. */
  drain(): void {
    for (;;) {
      // What it hears may close it.
      const received = this.#channel && receive(this.#channel);
      if (received === undefined) return;
      this.#hear(received.message as Message);
    }
  }

  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}

export const folderChannelName = (identity: string): string => `@bloom/level ${identity}`;
export const clientChannelName = (client: string): string => `@bloom/level client ${client}`;
