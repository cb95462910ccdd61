import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Preloaded (`--import`) into a service: on SIGUSR2 it collects its garbage and says what is left. What lives after a
// collection can be compared; what a heap happens to hold before one can't.

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  console.log(JSON.stringify({ event: 'memory', rss, heapUsed, external, sockets }));
});
