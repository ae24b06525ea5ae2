export { Peer, type PeerTraits } from './peer.js';
export { PeerError, PeerProcess, type Operation } from './peer-process.js';
export { peers } from './peers.js';
