import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ResolveAll } from './guarded-agent.ts';
import { createGuardedFetch, type FetchOptions, type FetchRequest } from './guarded-fetch.ts';
import { isPublicAddress } from './public-address.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let port: number;
let handler: Handler = (_request, response) => response.end('{}');
let connections = 0;
const open: AsyncDisposable[] = [];

beforeAll(async () => {
  server = createServer((request, response) => handler(request, response));
  server.on('connection', () => connections++);
  // Every address of the machine, IPv6 too: what gets past the guard gets here.
  await new Promise<void>((resolve) => server.listen(0, resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each[Symbol.asyncDispose]()));
  connections = 0;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function guard(options: Partial<FetchOptions> = {}) {
  const guarded = createGuardedFetch({ source: 'test', maxBytes: 100_000, timeoutMs: 20_000, ...options });
  open.push(guarded);
  return (url: string, request: Partial<FetchRequest> = {}) =>
    guarded.fetch(new URL(url), { signal: new AbortController().signal, ...request });
}
const allowed = () => guard({ privateHosts: [`127.0.0.1:${port}`] });
/** A name server of our own: each look-up of a name takes its next answer, the last one again and again. */
function resolver(names: Record<string, readonly (readonly string[])[]>): ResolveAll & { asked: string[] } {
  const asked: string[] = [];
  const resolve: ResolveAll = (hostname, _options, callback) => {
    const answers = names[hostname] ?? [];
    const turn = asked.filter((name) => name === hostname).length;
    asked.push(hostname);
    const addresses = answers[Math.min(turn, answers.length - 1)] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return Object.assign(resolve, { asked });
}

describe('G6: an address that is not public', () => {
  it.each([
    ['the metadata service', '169.254.169.254'],
    ['loopback', '127.0.0.1'],
    ['IPv4 mapped into IPv6', '[::ffff:127.0.0.1]'],
    ['IPv6 loopback', '[::1]'],
    ['hexadecimal', '0x7f.1'],
    ['octal', '0177.0.0.1'],
    ['one decimal number', '2130706433'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['a private network', '10.1.2.3'],
    ['this host', '0.0.0.0'],
    ['unique local', '[fd00::1]'],
    ['link-local', '[fe80::1]'],
    ['NAT64 of loopback', '[64:ff9b::7f00:1]'],
    ['6to4 of loopback', '[2002:7f00:1::]'],
    ['full width', '１２７.０.０.１'],
    ['multicast', '224.0.0.1'],
  ])('%s is refused before a connection is made: %s', async (_name, host) => {
    await expect(guard()(`http://${host}:${port}/`)).rejects.toMatchObject({ code: 'SOURCE_FORBIDDEN' });
    expect(connections).toBe(0);
  });

  it.each([
    ['a public name of loopback', ['127.0.0.1']],
    ['a public address first, a private one beside it', ['93.184.215.14', '127.0.0.1']],
    ['IPv6 loopback', ['::1']],
    ['a mapped address', ['::ffff:7f00:1']],
    ['no address', []],
  ])('behind a name: %s', async (_name, addresses) => {
    const resolve = resolver({ '127.0.0.1.nip.io': [addresses] });
    const error = await guard({ resolve })(`http://127.0.0.1.nip.io:${port}/`).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'SOURCE_FORBIDDEN', disposition: 'terminal' });
    // The message is stored with the task: what the name leads to is nobody's business there.
    expect(error.message).not.toMatch(/93\.184|::1|7f00/);
    expect(connections).toBe(0);
  });

  it('a name that changes its mind is judged by the look-up that its connection would be made with', async () => {
    // The public address comes second, so that no connection to one is ever tried from a test.
    const resolve = resolver({ 'rebind.example': [['127.0.0.1'], ['93.184.215.14']] });
    await expect(guard({ resolve })(`http://rebind.example:${port}/`)).rejects.toMatchObject({
      code: 'SOURCE_FORBIDDEN',
    });
    expect(resolve.asked).toEqual(['rebind.example']);
    expect(connections).toBe(0);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:a9fe:a9fe]/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
  ])('a redirect to %s is not followed', async (location) => {
    handler = (_request, response) => response.writeHead(302, { location }).end();
    await expect(allowed()(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'SOURCE_FORBIDDEN' });
    // The one that answered with the redirect.
    expect(connections).toBe(1);
  });

  it('a redirect to another port of an allowed host is judged by that port', async () => {
    let reached = 0;
    const other = createServer((_request, response) => {
      reached++;
      response.end('secret');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const otherPort = (other.address() as AddressInfo).port;
    handler = (_request, response) => response.writeHead(302, { location: `http://127.0.0.1:${otherPort}/` }).end();
    await expect(allowed()(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'SOURCE_FORBIDDEN' });
    expect(reached).toBe(0);
    other.close();
  });

  it.each(['file:///etc/passwd', 'gopher://127.0.0.1/', 'ftp://example.com/', 'data:text/plain,x'])(
    '%s is refused',
    async (url) => {
      await expect(guard()(url)).rejects.toMatchObject({ code: 'SOURCE_FORBIDDEN' });
    },
  );

  it('whatever the notation, it is loopback', () => {
    const decimal = fc.integer({ min: 0x7f000000, max: 0x7fffffff });
    const notations = decimal.map((value) => {
      const [a, b, c, d] = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
      const hex = (part: number) => `0x${part.toString(16)}`;
      const mapped = `[::ffff:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}]`;
      return [`${value}`, hex(value), `${a}.${(b << 16) | (c << 8) | d}`, `0${a.toString(8)}.${b}.${c}.${d}`, mapped];
    });
    fc.assert(
      fc.property(notations, (hosts) => {
        for (const host of hosts) {
          const { hostname } = new URL(`http://${host}/`);
          expect(isPublicAddress(hostname.replace(/^\[|\]$/g, ''))).toBe(false);
        }
      }),
    );
  });

  it('public ones are public', () => {
    for (const address of [
      '93.184.215.14',
      '8.8.8.8',
      '100.63.255.255',
      '2606:4700::1111',
      '64:ff9b::808:808',
      '172.32.0.1',
    ])
      expect(isPublicAddress(address)).toBe(true);
  });
});

describe('credentials', () => {
  const credentials = { authorization: 'Bearer canary' };
  it('go to the origin they are for, and to no other that it sends on to, not even back again', async () => {
    const seen: [string | undefined, string | undefined][] = [];
    const other = createServer((request, response) => {
      seen.push(['other', request.headers.authorization]);
      response.writeHead(307, { location: `http://127.0.0.1:${port}/back` }).end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const otherPort = (other.address() as AddressInfo).port;
    handler = (request, response) => {
      seen.push([request.url, request.headers.authorization]);
      if (request.url === '/') response.writeHead(301, { location: '/next' }).end();
      else if (request.url === '/next') response.writeHead(302, { location: `http://127.0.0.1:${otherPort}/` }).end();
      else response.end('ok');
    };
    const ask = guard({ privateHosts: ['127.0.0.1'] });
    await ask(`http://127.0.0.1:${port}/`, { credentials });
    expect(seen).toEqual([
      ['/', 'Bearer canary'],
      ['/next', 'Bearer canary'],
      ['other', undefined],
      ['/back', undefined],
    ]);
    other.closeAllConnections();
    other.close();
  });

  it('in a URL are refused, and not repeated', async () => {
    const error = await guard()('http://user:canary@example.com/').catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'SOURCE_FORBIDDEN' });
    expect(error.message).not.toContain('canary');
  });

  it('a body is not sent on to another origin', async () => {
    handler = (_request, response) => response.writeHead(308, { location: 'http://example.com/' }).end();
    await expect(allowed()(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })).rejects.toMatchObject({
      code: 'SOURCE_FORBIDDEN',
    });
  });
});

describe('an answer', () => {
  it('without an end is cut off at the limit, and its connection closed', async () => {
    let sent = 0;
    const closed = new Promise<void>((resolve) => {
      handler = (_request, response) => {
        const block = Buffer.alloc(64 * 1024);
        const more = () => {
          while (sent < 1e9 && response.write(block)) sent += block.length;
          response.once('drain', more);
        };
        response.on('close', resolve);
        more();
      };
    });
    await expect(allowed()(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'SOURCE_TOO_LARGE' });
    await closed;
    expect(sent).toBeLessThan(50e6);
  });

  it('that is packed is refused: nobody knows what it unpacks to', async () => {
    handler = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('bomb');
    await expect(allowed()(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'SOURCE_BAD_ANSWER' });
  });

  it('that never begins, or stops, ends with the deadline', async () => {
    for (const stuck of [() => undefined, (_: unknown, response: ServerResponse) => void response.write('{"a":')]) {
      handler = stuck;
      const ask = guard({ privateHosts: ['127.0.0.1'], timeoutMs: 200 });
      await expect(ask(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'SOURCE_TIMEOUT' });
    }
  });

  it('is no longer waited for once the caller gave up', async () => {
    const controller = new AbortController();
    handler = () => controller.abort(new Error('claim lost'));
    await expect(allowed()(`http://127.0.0.1:${port}/`, { signal: controller.signal })).rejects.toThrow('claim lost');
  });

  it('of a server that accepts and says nothing, that cuts off, or that does not speak HTTP is an error that names no address', async () => {
    handler = (request) => request.socket.destroy();
    const cut = await allowed()(`http://127.0.0.1:${port}/`).catch((thrown) => thrown);
    expect(cut).toMatchObject({ code: 'SOURCE_UNAVAILABLE' });
    const other = createTcpServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end('no http at all\r\n\r\n'),
    );
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port: otherPort } = other.address() as AddressInfo;
    const strange = await guard({ privateHosts: ['127.0.0.1'] })(`http://127.0.0.1:${otherPort}/`).catch(
      (thrown) => thrown,
    );
    expect(strange).toMatchObject({ code: 'SOURCE_UNAVAILABLE' });
    await new Promise((resolve) => other.close(resolve));
    const gone = await guard({ privateHosts: ['127.0.0.1'] })(`http://127.0.0.1:${otherPort}/`).catch(
      (thrown) => thrown,
    );
    expect(gone).toMatchObject({ code: 'SOURCE_UNAVAILABLE' });
    for (const { message } of [cut, strange, gone]) expect(message).not.toContain('127.0.0.1');
  });

  it('of a server that sends round in circles ends', async () => {
    handler = (_request, response) => response.writeHead(302, { location: '/' }).end();
    await expect(allowed()(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'SOURCE_BAD_ANSWER' });
  });
});

it('a client that could not be loaded in passing is loaded by the next request', async () => {
  vi.doMock('undici', () => {
    throw new Error('too many open files');
  });
  handler = (_request, response) => response.end('{}');
  const get = allowed();
  try {
    await expect(get(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  } finally {
    vi.doUnmock('undici');
  }
  expect((await get(`http://127.0.0.1:${port}/`)).status).toBe(200);
});
