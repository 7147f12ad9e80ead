// What a reader does, and what they then see, as attributes `data-` of the document.
const [root, by] = [document.documentElement, (id) => document.getElementById(id)];
const pixels = () => by("globe").getContext("2d").getImageData(0, 0, by("globe").width, by("globe").height).data;
const differ = (a, b) => a.length !== b.length || a.some((value, index) => value !== b[index]);
const key = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", { key }));
by("variable").value = "glucose";
by("variable").dispatchEvent(new Event("change"));
by("after").click();
root.dataset.address = location.hash;
const plot = document.querySelector("#fit-plot svg");
const box = plot.getBoundingClientRect();
plot.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2, clientY: box.top + 50 }));
root.dataset.read = by("fit-readout").textContent;
key(document.querySelector("#curve-plot svg"), "ArrowRight");
root.dataset.epoch = by("curve-readout").textContent;
key(by("globe"), "ArrowLeft");
root.dataset.still = by("turn").textContent;
const before = pixels();
root.dataset.inked = before.filter((value, index) => index % 4 === 3 && value > 0).length > 10000;
key(by("globe"), "ArrowUp");
root.dataset.turned = differ(before, pixels());
const turned = pixels();
by("group").value = "1";
by("group").dispatchEvent(new Event("change"));
root.dataset.regrouped = differ(turned, pixels());
by("globe").style.display = "none"; // as on paper
key(by("globe"), "ArrowUp");
root.dataset.sideways = root.scrollWidth > root.clientWidth;
root.dataset.done = "true";
