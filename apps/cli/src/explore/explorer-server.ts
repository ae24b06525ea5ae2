/** Serves the explorer and the files of one folder, read-only, to this machine. */
import { createReadStream, lstatSync, readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';

const LOOPBACK = '127.0.0.1';

const OTHER_TYPE = 'application/octet-stream';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

export interface ServedFiles {
  /** The folder with the built page of the explorer. */
  readonly page: string;
  /** The path of a file that is read under `/files/`; undefined for a name that is not served. */
  readonly pathOf: (name: string) => string | undefined;
}

/** Listens on a port that only this machine can reach. @param port 0 for any free port. */
export async function serveExplorer(files: ServedFiles, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    try {
      answer(files, request, response);
    } catch {
      // The file or the folder was deleted.
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, LOOPBACK, resolve);
  });
  return server;
}

/** The address of a server. */
export function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on a port');
  return `http://${LOOPBACK}:${address.port}/`;
}

function answer({ page, pathOf }: ServedFiles, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    return;
  }
  const { port } = request.socket.address() as { port: number };
  // Other host names are refused, so that a page cannot read the files through a DNS name that points to this machine.
  if (![`${LOOPBACK}:${port}`, `localhost:${port}`].includes(request.headers.host ?? '')) {
    response.writeHead(403).end();
    return;
  }
  const path = decodedPath(request.url ?? '/');
  const file = path.replace(/^files\//, '');
  // Only known names are served, so no path leads out of the two folders.
  if (file !== path) {
    const served = pathOf(file);
    if (served === undefined) response.writeHead(404).end();
    else send(served, request, response, OTHER_TYPE);
  } else if (readdirSync(page, { recursive: true }).some((name) => String(name).replaceAll('\\', '/') === path)) send(join(page, path), request, response, TYPES[extname(path)] ?? OTHER_TYPE);
  else response.writeHead(404).end();
}

/** The path of a URL without its slash; the path of the page if it is empty, and a path of no file if it cannot be decoded. */
function decodedPath(url: string): string {
  try {
    return decodeURIComponent(url.replace(/[?#].*$/s, '').slice(1)) || 'index.html';
  } catch {
    return 'files/';
  }
}

/** Sends a file, or the requested range of it. */
function send(path: string, { method, headers }: IncomingMessage, response: ServerResponse, type: string): void {
  const stat = lstatSync(path);
  if (!stat.isFile()) {
    response.writeHead(404).end();
    return;
  }
  const { size } = stat;
  const common = { 'Content-Type': type, 'Accept-Ranges': 'bytes', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ETag: `"${size}-${stat.mtimeMs}"` };
  const range = rangeOf(headers.range, size);
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...common, 'Content-Range': `bytes */${size}` }).end();
    return;
  }
  const [start, end] = range ?? [0, size];
  response.writeHead(range === undefined ? 200 : 206, { ...common, 'Content-Length': end - start, ...(range !== undefined && { 'Content-Range': `bytes ${start}-${end - 1}/${size}` }) });
  if (method === 'HEAD' || start === end) {
    response.end();
    return;
  }
  createReadStream(path, { start, end: end - 1 }).on('error', () => response.destroy()).pipe(response);
}

/** The start and the end of the range in a Range header; undefined for the whole file. */
function rangeOf(header: string | undefined, size: number): readonly [start: number, end: number] | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const [start, end] = first === '' ? [Math.max(0, size - Number(last)), size] : [Number(first), last === '' ? size : Math.min(size, Number(last) + 1)];
  return start < end ? [start, end] : 'unsatisfiable';
}
