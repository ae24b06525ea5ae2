/**
 * A `CryptoKey` as Blink stores it.
 *
 *     kind (u8)         1 AES: algorithm, length in bytes · 2 HMAC: length in bytes, hash · 4 RSA: algorithm, type, bits of the modulus,
 *                       length of the exponent, exponent, hash · 5 EC: algorithm, type, curve · 6 without parameters: algorithm ·
 *                       7 Ed25519, 8 X25519, 9 newer algorithms: algorithm, type
 *     usages            bits, of which the lowest is set if it is extractable
 *     length, key       raw, PKCS #8 or SubjectPublicKeyInfo
 *
 * All numbers are varints.
 *
 * Source: Chromium, third_party/blink/renderer/bindings/modules/v8/serialization/web_crypto_sub_tags.h.
 */
import type { ByteReader } from './byte-reader.js';

const ALGORITHMS: Readonly<Record<number, string>> = {
  1: 'AES-CBC', 2: 'HMAC', 3: 'RSASSA-PKCS1-v1_5', 5: 'SHA-1', 6: 'SHA-256', 7: 'SHA-384', 8: 'SHA-512', 9: 'AES-GCM', 10: 'RSA-OAEP',
  11: 'AES-CTR', 12: 'AES-KW', 13: 'RSA-PSS', 14: 'ECDSA', 15: 'ECDH', 16: 'HKDF', 17: 'PBKDF2', 18: 'Ed25519', 19: 'X25519',
  20: 'ChaCha20-Poly1305', 21: 'ML-DSA-44', 22: 'ML-DSA-65', 23: 'ML-DSA-87', 24: 'ML-KEM-768', 25: 'ML-KEM-1024',
};
const CURVES: Readonly<Record<number, string>> = { 1: 'P-256', 2: 'P-384', 3: 'P-521' };
const TYPES: Readonly<Record<number, string>> = { 1: 'public', 2: 'private', 3: 'secret' };
const USAGES = [
  'encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'wrapKey', 'unwrapKey', 'deriveBits',
  'encapsulateKey', 'encapsulateBits', 'decapsulateKey', 'decapsulateBits',
];

/** Reads a key after its tag. @returns its fields under the names of the Web Crypto API, and `keyData`; undefined for an unknown kind. */
export function readCryptoKey(reader: ByteReader): Record<string, unknown> | undefined {
  const properties = readAlgorithm(reader);
  if (properties === undefined) return undefined;
  const bits = reader.varint32();
  return {
    type: properties.type,
    extractable: (bits & 1) === 1,
    algorithm: properties.algorithm,
    usages: USAGES.filter((_, i) => (bits & (2 << i)) !== 0),
    keyData: reader.take(reader.varint32()).slice(),
  };
}

function readAlgorithm(reader: ByteReader): { readonly type: string; readonly algorithm: Readonly<Record<string, unknown>> } | undefined {
  const secret = 'secret';
  switch (reader.byte()) {
    case 1: {
      const name = ALGORITHMS[reader.varint32()];
      return name === undefined ? undefined : { type: secret, algorithm: { name, length: reader.varint32() * 8 } };
    }
    case 2: {
      const length = reader.varint32() * 8;
      const hash = ALGORITHMS[reader.varint32()];
      return hash === undefined ? undefined : { type: secret, algorithm: { name: 'HMAC', length, hash: { name: hash } } };
    }
    case 4: {
      const name = ALGORITHMS[reader.varint32()];
      const type = TYPES[reader.varint32()];
      const modulusLength = reader.varint32();
      const publicExponent = reader.take(reader.varint32()).slice();
      const hash = ALGORITHMS[reader.varint32()];
      return name === undefined || type === undefined || hash === undefined ? undefined : { type, algorithm: { name, modulusLength, publicExponent, hash: { name: hash } } };
    }
    case 5: {
      const name = ALGORITHMS[reader.varint32()];
      const type = TYPES[reader.varint32()];
      const namedCurve = CURVES[reader.varint32()];
      return name === undefined || type === undefined || namedCurve === undefined ? undefined : { type, algorithm: { name, namedCurve } };
    }
    case 6: {
      const name = ALGORITHMS[reader.varint32()];
      return name === undefined ? undefined : { type: secret, algorithm: { name } };
    }
    case 7:
    case 8:
    case 9: {
      const name = ALGORITHMS[reader.varint32()];
      const type = TYPES[reader.varint32()];
      return name === undefined || type === undefined ? undefined : { type, algorithm: { name } };
    }
    default:
      return undefined;
  }
}
