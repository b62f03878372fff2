// Keys go to the console at once, without a click into it.
window.addEventListener("load", () => {
  document.querySelector(".xterm-helper-textarea")?.focus();
});
