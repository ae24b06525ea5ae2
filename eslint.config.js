export { default } from '@bloom/eslint-config';
